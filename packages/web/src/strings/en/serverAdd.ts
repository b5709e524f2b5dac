import type { RejectionHint, SignInProblem } from '@behalf/contracts';

const text =
  'It says where to sign in, and what it says cannot be used. Its maintainers have to correct that.';

/** Why a server that refuses us cannot be signed in at. */
const problems: Readonly<Record<SignInProblem, string>> = {
  no_metadata: 'It does not say where to sign in, so it may want a token or a key.',
  no_authorization_server: 'It names no service to sign in at, so it may want a token or a key.',
  resource_mismatch: 'It calls itself by another address. Check the one above letter by letter.',
  metadata_invalid: text,
  issuer_mismatch: text,
  pkce_missing: 'Its sign-in service lacks a protection that is required here (PKCE).',
  audience_missing: 'Its sign-in service would give tokens that are good elsewhere as well.',
  no_client:
    'Its sign-in service wants a client that was registered beforehand. Enter one among the details.',
  registration_refused:
    'Its sign-in service refused to register this gateway. Enter a client among the details.',
  client_key_unusable: 'The key of this gateway cannot be used there. Tell the operator.',
  not_fillable: 'Its address cannot be used for a sign-in.',
  dpop_unsupported: 'Its sign-in service cannot bind tokens to a key, which is required here (DPoP).',
  not_offered: 'A sign-in is not offered for it here. Ask the operator.',
};

/** What to do about a credential that was refused. */
const hints: Readonly<Record<RejectionHint, { readonly title: string; readonly text: string }>> = {
  key: { title: 'The server refuses this token or key', text: 'Check it, and how it is sent.' },
  audience: {
    title: 'The server does not accept the new sign-in',
    text: 'The token is made for one address (the audience). Check that the address above is exactly the one that the server calls itself, and that it trusts the service you signed in at.',
  },
  scopes: {
    title: 'The new sign-in does not reach far enough',
    text: 'The server wants scopes that the token does not have. Enter them among the details, and sign in there.',
  },
  forbidden: {
    title: 'The account may not use this server',
    text: 'Sign in with another account, or ask who looks after the server.',
  },
};

/** Words of the dialog that finds a server by its address. */
export const serverAdd = {
  title: 'Where is the server?',
  lead: 'Enter its address. Its tools are shown before anything is saved.',
  look: 'Look at it',
  looking: 'The server is asked',
  byHand: 'Enter everything by hand',
  urlMissing: 'Enter the address of the server.',
  toolsTitle: (amount: number) =>
    amount === 1 ? 'It answers, and has 1 tool' : `It answers, and has ${amount} tools`,
  toolsText: 'Look through them. Then give the server a title and save it.',
  toolsList: 'Tools of the server',
  noTools: 'It answers, and has no tools',
  more: 'There are more than these.',
  goOn: 'Go on',
  signInTitle: 'This server wants you to sign in',
  signInText:
    'You sign in there in a window of its own. Then its tools are shown here, and nothing is saved yet.',
  signIn: 'Sign in',
  keyTitle: 'This server wants a token or a key',
  keyText: 'It is sent to this address now, and stored when you save the server.',
  keyMissing: 'Enter the token or key.',
  headerMissing: 'Enter the name of the header.',
  tryKey: 'Try it',
  enterKey: 'Enter a token or key',
  again: 'Sign in again',
  details: 'Go on to the details',
  tokenFor: 'The token is for',
  tokenReaches: 'It reaches',
  serverWants: 'The server wants',
  kept: 'You are signed in there already.',
  dropped: 'The sign-in was not taken over. Connect it on this page.',
  problems,
  hints,
};
