import { scopeList } from '@behalf/contracts';
import { HiddenText } from '@behalf/kernel';
import { readDpopKey } from '../../dpop/dpopKey.ts';
import { asksOffline } from '../discovery/chooseScopes.ts';
import type { SignInTarget } from '../signInTarget.ts';
import type { FlowPayload } from './flowPayload.ts';
import { s256 } from './secrets.ts';

/** What only the operator may add to a request. */
const extras = ['access_type', 'prompt', 'audience', 'domain_hint', 'login_hint'] as const;

/** What would say in our name whom a token is for, who signs in, or that the request stands elsewhere altogether. */
const reserved = [
  ...extras,
  'resource',
  'request',
  'request_uri',
  'authorization_details',
  'claims',
  'response_mode',
  'id_token_hint',
  'acr_values',
  'max_age',
  'dpop_jkt',
] as const;

/** Where the browser leaves for (RFC 6749, section 4.1.1; RFC 7636; RFC 8707). */
export function authorizeUrl(
  payload: FlowPayload & { readonly verifier: string; readonly nonce: string },
  state: string,
  target: SignInTarget,
): string {
  const url = new URL(payload.endpoints.authorization);
  // Set, not appended: what the address itself has does not take the place of ours.
  const put = (name: string, value: string | null | undefined) => {
    if (value !== null && value !== undefined && value !== '') url.searchParams.set(name, value);
  };
  const { oauth, isOperators } = target;
  if (isOperators) {
    put('audience', oauth.audience);
    for (const name of extras) put(name, oauth.plain.authorize_params?.[name]);
  } else for (const name of reserved) url.searchParams.delete(name);
  // Without it many give a refresh token the first time alone (OpenID Connect Core 1.0, section 11).
  if (asksOffline(payload.scopes) && !url.searchParams.has('prompt')) put('prompt', 'consent');
  put('response_type', 'code');
  put('client_id', payload.clientId);
  put('redirect_uri', payload.redirectUri);
  put('scope', payload.scopes);
  put('resource', payload.resource);
  put('state', state);
  put('code_challenge', s256(payload.verifier));
  put('code_challenge_method', 'S256');
  if (scopeList(payload.scopes).includes('openid')) put('nonce', payload.nonce);
  // Section 10: the code too is of use to who has the key alone.
  if (payload.dpopKey !== undefined) put('dpop_jkt', readDpopKey(new HiddenText(payload.dpopKey)).thumbprint);
  put('claims', payload.claims);
  return url.href;
}
