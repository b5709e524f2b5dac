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
