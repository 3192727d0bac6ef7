"""Every exception of ours.

    AgentShellError            one line for the user, and perhaps a hint
    ├── UsageError             wrong words on the command line, or an unusable file named there
    ├── ConfigError            a configuration file, or one entry of it, can't be used
    ├── MCPError               something about one MCP server; carries the stage that failed
    │   ├── MCPConnectError    it could not be started or reached, or the handshake failed
    │   ├── MCPTimeoutError    it did not answer in time
    │   ├── MCPClosedError     the connection is gone
    │   ├── MCPProtocolError   it answered something that is not the protocol
    │   ├── MCPHttpError       it answered an HTTP request with a status that is no success
    │   └── MCPRequestError    it answered a request with a JSON-RPC error
    ├── LLMError               the model service refused, broke off or made no sense
    ├── ToolArgumentsError     a tool was called with arguments its schema does not allow
    └── ApprovalNeededError    a call needed leave and nobody could be asked (exit code 3)

Foreign exceptions are translated into these at the door where they come in.
"""

from typing import Literal

MCPStage = Literal["config", "spawn", "connect", "initialize", "list", "call"]
"""Where in a server's life something failed."""


class AgentShellError(Exception):
    """What went wrong in one line; `hint` says what to type or change, where that helps."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(AgentShellError):
    """Wrong usage, or an unusable file that was named on the command line: exit code 2."""


class ConfigError(AgentShellError):
    """One problem of one file; the message begins with `FILE:LINE:COLUMN: ` where known.

    `path` is that file as it is shown to people: relative to the project where it lies in it.
    """

    def __init__(self, message: str, *, hint: str | None = None, path: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class MCPError(AgentShellError):
    """One server's failure. `stage` is where it happened, `server` its configured name."""

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        server: str | None = None,
        stage: MCPStage | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.server = server
        self.stage: MCPStage | None = stage

    @property
    def described(self) -> str:
        """The message with its server named, for whoever shows it by itself."""
        if self.server is None or f'"{self.server}"' in self.message:
            return self.message
        return f'server "{self.server}": {self.message}'


class MCPConnectError(MCPError):
    """The server could not be started, reached, or greeted."""


class MCPTimeoutError(MCPError):
    """No answer within the time that was allowed."""


class MCPClosedError(MCPError):
    """The connection ended: by us, by the server, or by its death."""


class MCPProtocolError(MCPError):
    """The other side sent something that the protocol does not allow here."""


class MCPHttpError(MCPError):
    """An HTTP status that is no success. `retry_after_s` is what the server asked for, if it did.

    `body_code` is the code of the JSON-RPC error in the body, where there is one.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        retry_after_s: float | None = None,
        body_code: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after_s = retry_after_s
        self.body_code = body_code


class MCPRequestError(MCPError):
    """The server answered a request with a JSON-RPC error object (JSON-RPC 2.0, section 5.1)."""

    def __init__(
        self,
        message: str,
        *,
        code: int,
        data: object = None,
        server: str | None = None,
        stage: MCPStage | None = None,
    ) -> None:
        super().__init__(message, server=server, stage=stage)
        self.code = code
        self.data = data


class LLMError(AgentShellError):
    """A model service's failure. `status` is the HTTP status, `retry_after_s` what it asked for."""

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        status: int | None = None,
        can_retry: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.can_retry = can_retry
        self.retry_after_s = retry_after_s


class ToolArgumentsError(AgentShellError):
    """The arguments of a tool call do not fit the tool's schema; the message says where."""


class ApprovalNeededError(AgentShellError):
    """A tool call needed leave in a run without anybody to ask: exit code 3."""
