"""/model: which model answers, and changing it."""

from collections.abc import Iterable

from agent_shell.errors import UsageError
from agent_shell.repl.commands.command import (
    Choice,
    CommandContext,
    SlashCommand,
    at_most_one_name,
)
from agent_shell.repl.drawing import joined

USAGE = "/model [PROVIDER/MODEL]"


async def model(context: CommandContext, rest: str) -> None:
    """Without a name: the current model and what could be used; with one: use it from now on."""
    name = at_most_one_name(rest, USAGE)
    if name is not None:
        if context.turns.is_running:
            raise UsageError("a turn runs; its model cannot be changed", hint="Ctrl-C stops it")
        context.session.set_model(name)
        context.print_text(f"model: {context.session.model or name}")
        return
    context.print_text(f"model: {context.session.model or 'none chosen yet'}")
    # Asking the services needs the network code, which the prompt does not.
    from agent_shell.llm.create import list_models  # noqa: PLC0415

    with context.activities.run("asking for models"):
        found = await list_models(context.settings, context.environ)
        for service in found:
            if service.error is not None:
                context.screen.print(joined(f"  {service.service}: ", (service.error, "error")))
            for info in service.models:
                context.print_text(f"  {service.service}/{info.id}")
        if not any(service.models for service in found):
            from agent_shell.llm.create import HOW_TO_GET_A_MODEL  # noqa: PLC0415 - see above

            context.screen.print(joined(("hint: ", "quiet"), HOW_TO_GET_A_MODEL))


def _choices(context: CommandContext, words: list[str]) -> Iterable[Choice]:
    if not words and context.session.model:
        yield context.session.model, "in use"


MODEL = SlashCommand(
    name="model",
    usage="[PROVIDER/MODEL]",
    summary="show the models, or choose one",
    run=model,
    complete=_choices,
)
