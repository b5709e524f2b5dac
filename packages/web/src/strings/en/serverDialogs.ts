import type { RejectionHint, SignInProblem } from '@behalf/contracts';

const metadataInvalid = 'Its sign-in metadata is invalid. Contact the maintainers of the server.';

/** Why sign-in to a server that requires authorization is not possible. */
const problems: Readonly<Record<SignInProblem, string>> = {
  no_metadata: 'It publishes no sign-in metadata, so it may need a token or API key.',
  no_authorization_server: 'It names no authorization server, so it may need a token or API key.',
  resource_mismatch: 'Its metadata names a different URL. Check the URL above.',
  metadata_invalid: metadataInvalid,
  issuer_mismatch: metadataInvalid,
  pkce_missing: 'Its authorization server does not support PKCE, which is required.',
  audience_missing: 'Its authorization server issues tokens that are not limited to this server.',
  no_client: 'Its authorization server requires a registered client. Enter one in the details.',
  registration_refused:
    'Its authorization server refused to register this gateway. Enter a client in the details.',
  client_key_unusable:
    'Its authorization server does not support the key of this gateway. Contact the operator.',
  not_fillable: 'Its URL cannot be used for a sign-in.',
  dpop_unsupported: 'Its authorization server does not support DPoP, which is required.',
  not_offered: 'Sign-in to this server is not available here. Contact the operator.',
};

/** The next step after a server rejected a credential. */
const hints: Readonly<Record<RejectionHint, { readonly title: string; readonly text: string }>> = {
  key: { title: 'The server rejected the token or key', text: 'Check it, and how it is sent.' },
  audience: {
    title: 'The server rejected your sign-in',
    text: 'The token may be issued for another audience. Check that the URL above is exactly the one the server uses for itself, and that the server trusts this authorization server.',
  },
  scopes: {
    title: 'Your sign-in is missing required scopes',
    text: 'Enter the missing scopes in the details, then sign in on the server page.',
  },
  forbidden: {
    title: 'Your account cannot use this server',
    text: 'Sign in with another account, or contact the owner of the server.',
  },
};

/** Texts of the dialog that discovers a server by its URL. */
export const serverAdd = {
  title: 'Add an MCP server',
  lead: 'Enter its URL. You see its tools before anything is saved.',
  connect: 'Continue',
  connecting: 'Connecting…',
  manualSetup: 'Set up manually',
  toolsTitle: (amount: number) =>
    amount === 1 ? 'Connected: 1 tool found' : `Connected: ${amount} tools found`,
  toolsText: 'Review the tools, then give the server a title.',
  toolsList: 'Tools of the server',
  noTools: 'Connected: no tools found',
  moreTools: 'The list is incomplete: the server has more tools.',
  next: 'Continue',
  signInTitle: 'Sign in to continue',
  signInText: 'The sign-in opens in a new window. Nothing is saved yet.',
  signIn: 'Sign in',
  keyTitle: 'This server needs a token or API key',
  keyText: 'Sent to this URL now, and stored when you save the server.',
  keyMissing: 'Enter the token or key.',
  headerMissing: 'Enter the header name.',
  tryKey: 'Connect',
  enterKey: 'Use a token or key',
  signInAgain: 'Sign in again',
  editDetails: 'Edit details',
  tokenAudience: 'Token audience:',
  tokenScopes: 'Token scopes:',
  requiredScopes: 'Required scopes:',
  kept: 'You are already signed in.',
  dropped: 'Your sign-in could not be kept. Connect on this page.',
  problems,
  hints,
};

/** Texts of the dialog that adds or edits a server. */
export const serverForm = {
  addTitle: 'New server',
  editTitle: (title: string) => `Edit “${title}”`,
  title: 'Title',
  titleHint: 'Letters, numbers, spaces, hyphens and apostrophes. The server ID is derived from it.',
  titleHintLater: 'Letters, numbers, spaces, hyphens and apostrophes. The server ID does not change.',
  description: 'Description',
  descriptionHint: 'The purpose of the server.',
  transport: 'Transport',
  transports: {
    'streamable-http': 'Streamable HTTP',
    sse: 'Server-sent events (legacy)',
    websocket: 'WebSocket',
  },
  url: 'URL',
  urlHint: 'For example https://tools.example.com/mcp',
  urlHintWebsocket: 'For example wss://tools.example.com/mcp',

  auth: 'Authentication',
  auths: {
    none: 'None',
    apiKey: 'API key',
    oauth: 'OAuth: each user signs in',
    obo: 'On-Behalf-Of: exchange of the organization sign-in',
  },
  authHints: {
    none: 'No credential is sent, except the headers below.',
    apiKey: 'A key is sent with every call.',
    oauth: 'Each user signs in with their own account.',
    obo: 'Each call carries a token that is issued to its user for this server. There is no consent page.',
  },

  keySource: 'Key source',
  keySources: {
    admin: 'One key for all users',
    user: 'Each user enters their own key',
  },
  key: 'Key',
  keyHint: 'Stored encrypted and never shown again.',
  secretStored: 'Stored. Leave empty to keep it.',
  secretUnknown: 'Leave empty to keep the stored secret, if any.',
  keyForm: 'Sent as',
  keyForms: {
    bearer: 'Authorization: Bearer',
    basic: 'Authorization: Basic (user:password)',
    custom: 'Custom header',
  },
  customHeader: 'Header name',

  clientId: 'Client ID',
  clientIdHint: 'Leave empty to register automatically.',
  clientSecret: 'Client secret',
  clientSecretHint: 'Requires a client ID, an authorization URL and a token URL.',
  removeSecret: 'Remove the stored client secret',
  authorizationUrl: 'Authorization URL',
  tokenUrl: 'Token URL',
  revocationUrl: 'Revocation URL',
  discoveredHint: 'Leave empty to discover it.',
  scope: 'Scopes',
  scopeHint: 'Separated by spaces.',
  exchangeMethod: 'Client authentication',
  exchangeMethods: {
    '': 'Provider default',
    default_post: 'Request body',
    basic_auth_header: 'Authorization header (Basic)',
  },

  oboScopes: 'Token scopes',
  oboScopesHint: 'Separated by spaces, for example api://mail-mcp/.default',
  oboWarning: 'This server receives a token of every user who calls it.',
  lockedTitle: 'You can change only the title and description',
  lockedText: 'This server receives user tokens. Other changes require CONFIGURE_OBO.',
  oboPermissionLost: 'Your role no longer has CONFIGURE_OBO. Choose another authentication.',

  headers: 'Headers',
  headersHint: 'Sent with every call. Values are stored encrypted and never shown again.',
  headersKeptHint: 'Stored headers stay unchanged. Their names and values are not shown.',
  headersReplace: 'Replace stored headers',
  headersKeep: 'Keep stored headers',
  headersRemoved: 'Saving without headers removes the stored ones.',
  headerAdd: 'Add header',
  headerName: 'Name',
  headerValue: 'Value',
  headerRemove: (name: string) => (name === '' ? 'Remove header' : `Remove header ${name}`),

  test: 'Test',
  testing: 'Testing…',
  save: 'Save',
  add: 'Add',
  connected: 'Connected',
  toolsFound: (tools: number) => (tools === 1 ? '1 tool found.' : `${tools} tools found.`),
  notInspected: 'Settings are valid. The connection was not tested.',
  notInspectedText: 'The server first needs a sign-in or values of a user.',
  invalidFieldsTitle: 'Fix the highlighted fields',
  invalidTitle: 'These settings are not valid',
  otherField: (path: string, message: string) => `${path}: ${message}`,
  conflictTitle: 'Someone else changed this server',
  conflictText: 'Load the latest version and repeat your changes. Loading it discards your unsaved changes.',
  conflictReload: 'Load latest version',
  rightsLost: 'Your role no longer allows this. Your changes cannot be saved.',
  unsavedTitle: 'Discard unsaved changes?',
  unsavedText: 'Your changes will be lost.',
  unsavedDiscard: 'Discard changes',

  problems: {
    title: 'Enter a title.',
    url: 'Enter the server URL.',
    urlInvalid: 'Enter a URL that starts with http:// or https://.',
    urlInvalidWebsocket: 'Enter a URL that starts with ws:// or wss://.',
    key: 'Enter the key.',
    customHeader: 'Enter the header name.',
    oboScopes: 'Enter at least one scope.',
    headerName: 'Enter a name, or remove this header.',
    headerTwice: 'This header is listed twice.',
  },
  reenterSecret: (changed: string) =>
    `You changed ${changed}. Enter the secret again: a stored secret is never sent to a new destination.`,
  reenterHeaders: (changed: string) =>
    `You changed ${changed}. Replace or remove the stored headers: a stored secret is never sent to a new destination.`,
  destination: 'the destination',
  and: ' and ',
};

/** Texts of the sharing dialog. */
export const serverSharing = {
  title: (server: string) => `Share “${server}”`,
  lead: 'Everyone you share this server with uses the headers that you configured, if any.',
  leadKey: 'Everyone you share this server with uses the headers and the API key that you configured.',
  leadConfiguration: 'The configuration defines who has access. Sharing here grants additional access.',
  search: 'Share with',
  searchHint: 'Name or email of a user, a role, or one of your groups. At least two characters.',
  searching: 'Searching…',
  results: 'Search results',
  foundCount: (amount: number) => (amount === 1 ? '1 found' : `${amount} found`),
  asGroupHint: 'Group with this name in the tokens of your organization',
  types: { user: 'User', group: 'Group', role: 'Role' },
  sharedWith: 'Shared with',
  notShared: 'Only administrators can see this server.',
  you: 'you',
  access: 'Access',
  accessOf: (name: string) => `Access of ${name}`,
  roles: {
    mcpServer_viewer: 'Viewer',
    mcpServer_editor: 'Editor',
    mcpServer_owner: 'Owner',
  },
  roleTexts: {
    mcpServer_viewer: 'can see the server and use its tools',
    mcpServer_editor: 'can also edit the server and see its URL, but not its secrets',
    mcpServer_owner: 'can also share and delete the server',
  },
  describeRole: (role: string, text: string) => `${role}: ${text}.`,
  remove: (name: string) => `Remove ${name}`,
  publicTitle: 'Everyone in your organization',
  publicHint: 'Includes people who join later.',
  publicForbidden: 'Sharing with everyone, or with the role USER, requires the permission SHARE_PUBLIC.',
  publicAccess: 'Access for everyone',
  save: 'Save',
  saved: 'Sharing saved',
  reducesOwnAccess: 'You are reducing your own access. You cannot restore it yourself.',
  permissionLost: 'You can no longer share this server.',
  problems: {
    last_owner: 'At least one owner is required. Add another owner first.',
    unknown_principal: 'A user, group or role in the list no longer exists. Remove it and save again.',
    duplicate: 'The list contains a duplicate. Remove it and save again.',
    too_many: 'The list is too long. Share with a role or group instead.',
  } as Readonly<Record<string, string>>,
  problemTitle: 'Sharing was not saved',
};
