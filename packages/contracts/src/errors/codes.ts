/** The properties of an error code. All are required. */
interface ErrorKind {
  /** The HTTP status. The JSON-RPC error number is derived from it. */
  status: number;
  /** Describes the problem. The same text for every occurrence. */
  title: string;
  /** Tells the caller how to solve the problem. */
  action: string;
}

/** Errors of exchanging a user's token for a server's token. */
const oboErrorKinds = {
  OBO_SUBJECT_TOKEN_MISSING: {
    status: 401,
    title: 'There is no token of your identity provider to exchange',
    action: 'Sign in with your organization.',
  },
  OBO_SUBJECT_TOKEN_EXPIRED: {
    status: 401,
    title: 'The token of your identity provider has expired',
    action: 'Sign in again.',
  },
  OBO_EMPTY_RESPONSE: {
    status: 502,
    title: 'The identity provider returned no token',
    action: 'Ask the operator to check the identity provider.',
  },
  OBO_TEMPORARY: {
    status: 503,
    title: 'The identity provider is currently unavailable',
    action: 'Try again.',
  },
  OBO_REJECTED: {
    status: 401,
    title: 'The identity provider no longer accepts your sign-in',
    action: 'Sign in again.',
  },
  OBO_CONSENT_REQUIRED: {
    status: 401,
    title: 'The identity provider requires an action from you',
    action: 'Sign in again and consent.',
  },
  OBO_MISCONFIGURED: {
    status: 500,
    title: 'The token exchange is misconfigured',
    action: 'Ask the operator to check the client and the scopes.',
  },
} as const satisfies Record<string, ErrorKind>;

/** Errors of blocks, sets and runs. */
const blockErrorKinds = {
  BLOCK_NOT_FOUND: { status: 404, title: 'No such block', action: 'List your blocks.' },
  BLOCK_FORBIDDEN: {
    status: 403,
    title: 'You do not have permission for this action on this block',
    action: 'Ask its owner.',
  },
  BLOCK_LIMIT: { status: 409, title: 'You have reached the maximum number of blocks', action: 'Delete one.' },
  BLOCK_INPUTS_INVALID: {
    status: 400,
    title: 'The inputs of the block do not match the schema of the tool',
    action: 'Correct the fields named in errors.',
  },
  BLOCK_INCOMPLETE: {
    status: 422,
    title: 'Inputs or credentials of this block are missing',
    action: 'Provide the inputs and credentials named in missing; nothing was sent.',
  },
  BLOCK_SERVER_FORBIDDEN: {
    status: 403,
    title: 'You do not have access to the server of this block',
    action: 'Ask the owner of the server to share it with you.',
  },
  BLOCK_SERVER_GONE: {
    status: 410,
    title: 'The server of this block no longer exists',
    action: 'Create another block with an existing server.',
  },
  BLOCK_OUTPUT_INVALID: {
    status: 502,
    title: 'The tool ran, but its result does not match its output schema',
    action: 'Report it to the maintainers of the server; check the effect before you run the block again.',
  },
  SET_NOT_FOUND: { status: 404, title: 'No such set', action: 'List your sets.' },
  SET_FORBIDDEN: {
    status: 403,
    title: 'You do not have permission for this action on this set',
    action: 'Ask its owner.',
  },
  SET_LIMIT: { status: 409, title: 'You have reached the maximum number of sets', action: 'Delete one.' },
  SET_INVALID: {
    status: 400,
    title: 'The steps of the set do not match its blocks',
    action: 'Correct the fields named in errors.',
  },
  SET_INCOMPLETE: {
    status: 422,
    title: 'Inputs or credentials of this set are missing',
    action:
      'Provide the inputs and credentials named in missing, and correct the steps named in errors; nothing ran.',
  },
  SET_INPUT_UNAVAILABLE: {
    status: 422,
    title: 'An earlier step returned no value for this input',
    action: 'Correct the pointer, or the step that it refers to.',
  },
  RUN_NOT_FOUND: { status: 404, title: 'No such run', action: 'List your runs.' },
  RUN_LIMIT: {
    status: 409,
    title: 'You have reached the maximum number of active runs',
    action: 'Wait until a run ends, or cancel a run.',
  },
  RUN_NOT_RESUMABLE: {
    status: 409,
    title: 'This run cannot be resumed',
    action: 'Check its state, or start another run of the set.',
  },
  RUN_BLOCK_CHANGED: {
    status: 409,
    title: 'A block of this run was changed after the run started',
    action: 'Check the block, then start another run of the set.',
  },
  RUN_OUTCOME_UNCERTAIN: {
    status: 409,
    title: 'A step of this run may or may not have run, and is not retried',
    action: 'Check its effect, then start another run of the set.',
  },
} as const satisfies Record<string, ErrorKind>;

/** All error codes of Behalf. Codes are stable; texts may change. */
export const errorKinds = {
  AUTH_REQUIRED: {
    status: 401,
    title: 'Sign-in is required',
    action: 'Sign in, or send a valid bearer token.',
  },
  AUTH_TOKEN_INVALID: {
    status: 401,
    title: 'The bearer token is not accepted',
    action: 'Send an access token of the configured issuer for this gateway, or a valid API key.',
  },
  AUTH_FAILED: {
    status: 401,
    title: 'Email or password is wrong',
    action: 'Check the email and the password, then try again.',
  },
  OPENID_REAUTH_REQUIRED: { status: 401, title: 'The sign-in has expired', action: 'Sign in again.' },
  OPENID_FAILED: {
    status: 401,
    title: 'The sign-in at the identity provider failed',
    action: 'Sign in again; if that fails, give the incident id to the operator.',
  },
  OPENID_UNAVAILABLE: {
    status: 503,
    title: 'The identity provider does not respond',
    action: 'Try again later.',
  },
  CSRF_REFUSED: {
    status: 403,
    title: 'The request does not come from this site',
    action: 'Send the request from the origin of the gateway, or add the header X-Behalf-CSRF: 1.',
  },
  HOST_REFUSED: {
    status: 421,
    title: 'The Host header does not match this gateway',
    action: 'Use localhost, or set PUBLIC_URL to the address that users open.',
  },
  FORBIDDEN: {
    status: 403,
    title: 'You do not have permission for this action',
    action: 'Ask an administrator for the permission.',
  },
  TOKEN_SCOPE: {
    status: 403,
    title: 'The token does not have the required scope',
    action: 'At the identity provider, request a token with the scopes named in WWW-Authenticate.',
  },
  API_KEY_SCOPE: {
    status: 403,
    title: 'The API key does not have the required scope',
    action: 'Create a key with the scope, or sign in.',
  },
  API_KEY_NOT_FOUND: { status: 404, title: 'No such API key', action: 'List your keys.' },
  API_KEY_LIMIT: {
    status: 409,
    title: 'You have reached the maximum number of API keys',
    action: 'Delete one.',
  },
  ROLE_NOT_FOUND: { status: 404, title: 'No such role', action: 'List the roles.' },
  ROLE_TAKEN: { status: 409, title: 'A role with this name exists', action: 'Choose another name.' },
  ROLE_IN_USE: {
    status: 409,
    title: 'The role is assigned to users',
    action: 'Assign another role to these users first.',
  },
  ROLE_MANAGED: {
    status: 409,
    title: 'The permission is managed by the configuration',
    action: 'Change interface.mcpServers in the configuration.',
  },
  LAST_ADMIN: {
    status: 409,
    title: 'At least one administrator is required',
    action: 'Assign the role ADMIN to another user first.',
  },
  USER_NOT_FOUND: { status: 404, title: 'No such user', action: 'Check the id.' },
  SESSION_NOT_FOUND: { status: 404, title: 'No such session', action: 'List the sessions.' },
  VERSION_CONFLICT: {
    status: 412,
    title: 'The object was changed in the meantime',
    action: 'Read it again, then repeat the change.',
  },
  AUDIT_UNAVAILABLE: {
    status: 503,
    title: 'The audit log cannot record the event',
    action: 'Try again; see /ready.',
  },
  SETUP_LINK_INVALID: {
    status: 403,
    title: 'The setup link was already used, has expired or is not valid',
    action: 'Restart the gateway for a new link, or run npm run create-user.',
  },
  REQUEST_INVALID: {
    status: 400,
    title: 'The request is not valid',
    action: 'Correct the fields named in errors.',
  },
  REQUEST_TOO_LARGE: { status: 413, title: 'The request is too large', action: 'Send a smaller body.' },
  NOT_FOUND: { status: 404, title: 'Not found', action: 'Check the address.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'This method is not supported here',
    action: 'Use a method named in Allow.',
  },
  EMAIL_TAKEN: {
    status: 409,
    title: 'An account with this email exists',
    action: 'Sign in, or use another email.',
  },
  CONFIG_INVALID: {
    status: 422,
    title: 'The configuration is not valid',
    action: 'Correct the keys named in errors; the running configuration is unchanged.',
  },
  RATE_LIMITED: { status: 429, title: 'Too many requests', action: 'Wait for the time in Retry-After.' },
  MCP_FORBIDDEN: { status: 403, title: 'Your role does not allow this', action: 'Ask an administrator.' },
  MCP_ACL_FORBIDDEN: {
    status: 403,
    title: 'You do not have permission for this action on this server',
    action: 'Ask its owner.',
  },
  MCP_OBO_FORBIDDEN: {
    status: 403,
    title: 'On-Behalf-Of is not permitted for this server',
    action: 'Ask an administrator for CONFIGURE_OBO.',
  },
  MCP_DOMAIN_NOT_ALLOWED: {
    status: 403,
    title: 'The address is not allowed',
    action: 'Ask the operator to add it to mcpSettings.allowedDomains or allowedAddresses.',
  },
  MCP_SERVER_NOT_FOUND: { status: 404, title: 'No such server', action: 'Check the name.' },
  MCP_TOOL_NOT_FOUND: {
    status: 404,
    title: 'No such tool',
    action: 'List the tools and use one of their names.',
  },
  MCP_RESOURCE_NOT_FOUND: {
    status: 404,
    title: 'No such resource',
    action: 'List the resources and use one of their addresses.',
  },
  MCP_PROMPT_NOT_FOUND: {
    status: 404,
    title: 'No such prompt',
    action: 'List the prompts and use one of their names.',
  },
  MCP_TASK_NOT_FOUND: {
    status: 404,
    title: 'No such task, or it has expired',
    action: 'Call the tool again.',
  },
  MCP_DRAFT_NOT_FOUND: {
    status: 404,
    title: 'No such draft, or it has expired',
    action: 'Request the tools of the server again.',
  },
  MCP_FLOW_NOT_FOUND: { status: 404, title: 'No such sign-in attempt', action: 'Start it again.' },
  MCP_FLOW_FORBIDDEN: {
    status: 403,
    title: 'This sign-in attempt belongs to another user',
    action: 'Start a new sign-in.',
  },
  MCP_CONNECT_LINK_FORBIDDEN: {
    status: 403,
    title: 'This link was created for another user',
    action: 'Close the page. To connect the server for yourself, open it from your own list of servers.',
  },
  MCP_CONNECT_LINK_EXPIRED: {
    status: 410,
    title: 'This link has expired',
    action: 'Repeat the request that returned it, or open the server from your list of servers.',
  },
  MCP_FLOW_PENDING: {
    status: 409,
    title: 'A sign-in at this server is in progress',
    action: 'Continue or cancel the sign-in named in flowId.',
  },
  MCP_FLOW_LIMIT: {
    status: 429,
    title: 'Too many sign-ins are in progress',
    action: 'Finish or cancel one, or wait for the time in Retry-After.',
  },
  MCP_FLOW_USED: { status: 409, title: 'This sign-in attempt has already ended', action: 'Start it again.' },
  MCP_CREDENTIAL_NOT_FOUND: {
    status: 404,
    title: 'You have no such credential at this server',
    action: 'List your credentials, or connect the server.',
  },
  MCP_CREDENTIAL_UNBOUND: {
    status: 409,
    title: 'The credential belongs to another issuer or client',
    action: 'Provide a credential of the issuer and client of this server.',
  },
  MCP_CREDENTIAL_LABEL_TAKEN: {
    status: 409,
    title: 'You already have a sign-in with this label at this server',
    action: 'Choose another label, or disconnect the sign-in first.',
  },
  MCP_TOKEN_REFUSED: {
    status: 422,
    title: 'The server rejected this token',
    action: 'Provide a token that the server accepts. Nothing was stored.',
  },
  MCP_FLOW_INVALID: { status: 400, title: 'This sign-in attempt cannot continue', action: 'Start it again.' },
  MCP_CONFIG_INVALID: {
    status: 400,
    title: 'The server definition is not valid',
    action: 'Correct the fields named in errors.',
  },
  MCP_INSPECTION_FAILED: {
    status: 400,
    title: 'The server could not be inspected',
    action: 'Check its address and try again.',
  },
  MCP_OAUTH_SECRET_REENTRY_REQUIRED: {
    status: 400,
    title: 'The client secret must be entered again',
    action: 'Send it together with the changed fields.',
  },
  MCP_SECRET_REENTRY_REQUIRED: {
    status: 400,
    title: 'A secret must be entered again',
    action: 'Send it together with the changed fields.',
  },
  MCP_SERVER_MANAGED: {
    status: 409,
    title: 'This server is managed by the operator',
    action: 'Change it in the configuration.',
  },
  MCP_SERVER_LIMIT: {
    status: 409,
    title: 'You have reached the maximum number of servers',
    action: 'Delete one, or ask the operator to raise MCP_SERVERS_PER_USER.',
  },
  MCP_VERSION_CONFLICT: {
    status: 412,
    title: 'The server was changed in the meantime',
    action: 'Read it again, then repeat the change.',
  },
  ...blockErrorKinds,
  CHAT_NOT_FOUND: {
    status: 404,
    title: 'No such conversation',
    action: 'Open another one, or start a new one.',
  },
  CHAT_BUSY: {
    status: 409,
    title: 'An answer is being written in this conversation',
    action: 'Wait for it, or stop it.',
  },
  CHAT_LIMIT: {
    status: 409,
    title: 'The limit of conversations or messages is reached',
    action: 'Delete a conversation, or start a new one.',
  },
  MODEL_NOT_CONFIGURED: {
    status: 409,
    title: 'No model is configured',
    action: 'Add one under endpoints.custom in the configuration, or run tools one by one.',
  },
  MODEL_NOT_FOUND: { status: 400, title: 'No such model', action: 'Choose one of GET /api/chat/models.' },
  MODEL_REFUSED: {
    status: 502,
    title: 'The model API rejected the request',
    action: 'Ask the operator to check the key, the model and the limits of endpoints.custom.',
  },
  MODEL_RATE_LIMITED: {
    status: 503,
    title: 'The model API is rate limited',
    action: 'Try again after a moment.',
  },
  MODEL_UNAVAILABLE: { status: 502, title: 'The model API does not respond', action: 'Try again later.' },
  MCP_RATE_LIMITED: { status: 429, title: 'Too many calls', action: 'Wait for the time in Retry-After.' },
  MCP_ARGUMENTS_INVALID: {
    status: 400,
    title: 'The arguments do not match the schema of the tool',
    action: 'Correct the fields named in errors.',
  },
  MCP_APPROVAL_REQUIRED: { status: 409, title: 'This tool requires approval', action: 'Approve the call.' },
  MCP_APPROVAL_NOT_FOUND: {
    status: 404,
    title: 'No such approval is pending',
    action: 'Call the tool again to request a new approval.',
  },
  MCP_USER_VARS_MISSING: {
    status: 424,
    title: 'The server needs values from you',
    action: 'Enter the named variables.',
  },
  MCP_AUTHORIZATION_UNAVAILABLE: {
    status: 424,
    title: 'Sign-in is required but not available',
    action: 'Ask the operator to check the OAuth settings of this server.',
  },
  MCP_AUTHORIZATION_SERVER_REFUSED: {
    status: 403,
    title: 'This authorization server is not allowed for this server',
    action: 'Ask the operator to list it in mcpSettings.issuers.',
  },
  MCP_AUTHORIZATION_REQUIRED: {
    status: 424,
    title: 'You need to sign in at this server first',
    action: 'Connect the server, then try again.',
  },
  UPSTREAM_AUTH_UNAVAILABLE: {
    status: 503,
    title: 'The authorization server does not respond',
    action: 'Try again later. Your sign-in is kept.',
  },
  UPSTREAM_AUTH_MISCONFIGURED: {
    status: 500,
    title: 'The OAuth client of this server is misconfigured',
    action: 'Ask the operator to check the client and the scopes.',
  },
  MCP_CREDENTIAL_REJECTED: {
    status: 502,
    title: 'The server rejected the credential',
    action: 'Check the credential.',
  },
  MCP_UNREACHABLE: { status: 502, title: 'The server cannot be reached', action: 'Try again later.' },
  MCP_METHOD_NOT_FOUND: {
    status: 404,
    title: 'The server does not support this method',
    action: 'Use a method that the server supports.',
  },
  MCP_FORM_REFUSED: {
    status: 502,
    title: 'The server rejected the format of the request',
    action: 'Ask the operator to check the address and era of the server.',
  },
  MCP_PROTOCOL_ERROR: {
    status: 502,
    title: 'The server violated the MCP protocol',
    action: 'Report it to the maintainers of the server.',
  },
  MCP_DIALOGUE_UNSUPPORTED: {
    status: 422,
    title: 'The server requests input that the client cannot provide',
    action: 'Use a client that declares the requested capability and reads event streams.',
  },
  MCP_URL_ELICITATION_REQUIRED: {
    status: 424,
    title: 'The server requires you to open a page first',
    action: 'Open the URL in the response, then repeat the call.',
  },
  MCP_RESPONSE_TOO_LARGE: { status: 502, title: 'The response is too large', action: 'Request less data.' },
  MCP_OUTCOME_UNCERTAIN: {
    status: 502,
    title: 'The call may or may not have run',
    action: 'Check its effect before repeating it.',
  },
  MCP_BREAKER_OPEN: {
    status: 503,
    title: 'The server failed repeatedly',
    action: 'Wait for the time in Retry-After.',
  },
  MCP_TIMEOUT: { status: 504, title: 'The server did not respond in time', action: 'Try again later.' },
  ...oboErrorKinds,
  STORE_UNAVAILABLE: { status: 503, title: 'The store does not respond', action: 'Try again; see /ready.' },
  SHUTTING_DOWN: {
    status: 503,
    title: 'The gateway is shutting down',
    action: 'Try again immediately; another replica responds.',
  },
  INTERNAL: {
    status: 500,
    title: 'Internal error',
    action: 'Give the incident id to the operator.',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;
export const errorCodes = Object.keys(errorKinds) as ErrorCode[];

export function httpStatus(code: ErrorCode): number {
  return errorKinds[code].status;
}

/** Implementation-defined JSON-RPC error numbers must be outside the reserved range: -(31000 + status). */
export function jsonRpcNumber(code: ErrorCode): number {
  return -(31_000 + httpStatus(code));
}
