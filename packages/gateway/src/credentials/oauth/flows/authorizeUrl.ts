import { scopeList } from '@behalf/contracts';
import { HiddenText } from '@behalf/kernel';
import { parseDpopKey } from '../../dpop/dpopKey.ts';
import { includesOfflineAccess } from '../discovery/chooseScopes.ts';
import type { SignInTarget } from '../signInTarget.ts';
import type { FlowPayload } from './flowPayload.ts';
import { s256 } from './flowSecrets.ts';

/** What only the operator may add to a request. */
const OPERATOR_PARAMETERS = ['access_type', 'prompt', 'audience', 'domain_hint', 'login_hint'] as const;

/** What would say in our name whom a token is for, who signs in, or that the request stands elsewhere altogether. */
const RESERVED_PARAMETERS = [
  ...OPERATOR_PARAMETERS,
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
export function buildAuthorizeUrl(
  payload: FlowPayload & { readonly codeVerifier: string; readonly nonce: string },
  state: string,
  target: SignInTarget,
): string {
  const url = new URL(payload.endpoints.authorization);
  // Set, not appended: what the address itself has does not take the place of ours.
  const setParameter = (name: string, value: string | null | undefined) => {
    if (value !== null && value !== undefined && value !== '') url.searchParams.set(name, value);
  };
  const { oauth, isOperatorDefined } = target;
  if (isOperatorDefined) {
    setParameter('audience', oauth.audience);
    for (const name of OPERATOR_PARAMETERS) setParameter(name, oauth.raw.authorize_params?.[name]);
  } else for (const name of RESERVED_PARAMETERS) url.searchParams.delete(name);
  // Without it many give a refresh token the first time alone (OpenID Connect Core 1.0, section 11).
  if (includesOfflineAccess(payload.scopes) && !url.searchParams.has('prompt'))
    setParameter('prompt', 'consent');
  setParameter('response_type', 'code');
  setParameter('client_id', payload.clientId);
  setParameter('redirect_uri', payload.redirectUri);
  setParameter('scope', payload.scopes);
  setParameter('resource', payload.resource);
  setParameter('state', state);
  setParameter('code_challenge', s256(payload.codeVerifier));
  setParameter('code_challenge_method', 'S256');
  if (scopeList(payload.scopes).includes('openid')) setParameter('nonce', payload.nonce);
  // Section 10: the code too is of use to who has the key alone.
  if (payload.dpopKey !== undefined)
    setParameter('dpop_jkt', parseDpopKey(new HiddenText(payload.dpopKey)).thumbprint);
  setParameter('claims', payload.claims);
  return url.href;
}
