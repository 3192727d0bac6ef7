"""Check a call's arguments against the tool's JSON Schema, and say what is wrong.

jsonschema-rs is imported with the first check: the prompt stands without it.
"""

import logging
from typing import TYPE_CHECKING, NoReturn, cast

from agent_shell.errors import ToolArgumentsError
from agent_shell.json_types import JSONObject

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

MAX_REPORTED_PROBLEMS = 5
MAX_PROBLEM_CHARACTERS = 300
MAX_KEPT_VALIDATORS = 512

_log = logging.getLogger(__name__)
_validators: dict[int, tuple[JSONObject, "Validator | None"]] = {}


def preload() -> None:
    """Import the validator. Call it in a worker thread, ahead of the first call."""
    import jsonschema_rs  # noqa: PLC0415 - see the module's docstring

    _log.debug("loaded %s", jsonschema_rs.__name__)


def check_arguments(schema: JSONObject, arguments: JSONObject) -> None:
    """Raises ToolArgumentsError, which names each place and what is wrong there.

    A schema that is itself invalid, or refers to another document, checks nothing: the tool's
    maker knows best what to make of the call. No reference is ever fetched.
    """
    validator = _validator_for(schema)
    if validator is None:
        return
    try:
        problems = list(validator.iter_errors(cast("dict[str, object]", arguments)))
    except ValueError as error:  # a value JSON has no word for, a pattern that runs too long
        _log.debug("arguments go through unchecked: %s", error)
        return
    if problems:
        told = [_told(problem) for problem in problems[:MAX_REPORTED_PROBLEMS]]
        if len(problems) > len(told):
            told.append(f"and {len(problems) - len(told)} more")
        raise ToolArgumentsError("the arguments do not fit: " + "; ".join(told))


def _told(problem: "ValidationError") -> str:
    place = "".join(f"/{step}" for step in problem.instance_path) or "the object"
    message = problem.message
    if len(message) > MAX_PROBLEM_CHARACTERS:
        message = message[:MAX_PROBLEM_CHARACTERS] + "…"
    return f"{place}: {message}"


def _validator_for(schema: JSONObject) -> "Validator | None":
    """The compiled schema; compiled once, and remembered by the schema object itself."""
    known = _validators.get(id(schema))
    if known is not None and known[0] is schema:
        return known[1]
    import jsonschema_rs  # noqa: PLC0415 - see the module's docstring

    validator: Validator | None = None
    try:
        validator = jsonschema_rs.validator_for(
            cast("dict[str, object]", schema), retriever=_refuse_to_fetch
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        _log.debug("a schema can't be used to check arguments: %s", error)
    if len(_validators) >= MAX_KEPT_VALIDATORS:
        # Reloads bring new schema objects; the old ones must not pile up.
        _validators.clear()
    _validators[id(schema)] = (schema, validator)
    return validator


def _refuse_to_fetch(uri: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to {uri}")
