import { ExchangeFault } from '../exchangeFault.ts';
import type { Prover } from '../../dpop/dpop.ts';
import { sendProviderRequest, parseJsonObject, type ProviderResponse } from './providerRequest.ts';
import { buildClientAuth } from './clientAuth.ts';
import type { CredentialMaterial } from './clientCredential.ts';
import type { ProviderTokenEndpoint } from './endpointSource.ts';
import type { ProviderParts } from './providerParts.ts';

type Field = readonly [name: string, value: string];

export type PostGrantParts = Pick<
  ProviderParts,
  'settings' | 'fetch' | 'endpoint' | 'credential' | 'clock' | 'random'
>;

/** One form to a token endpoint, in the name of the entry's client. Rejects with ExchangeFault. */
export async function postGrant(
  parts: PostGrantParts,
  buildFields: () => readonly Field[] | Promise<readonly Field[]>,
  signal: AbortSignal,
  prover?: Prover,
): Promise<ProviderResponse> {
  const { settings, fetch, endpoint, credential, clock, random } = parts;
  const { name, clientId } = settings;
  const misconfigured = (hint: string) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}` });
  if (clientId === undefined) throw misconfigured('clientId is missing');
  const [tokenEndpoint, material, formFields] = await Promise.all([
    endpoint.current(),
    credential.read(),
    buildFields(),
  ]);
  if (!matchesClientAuth(settings, material))
    throw misconfigured('the credential that clientAuth requires is missing');
  let dpopProof = '';
  const post = async () => {
    // Anew for each request: an assertion is good once.
    const { headers, fields } = await buildClientAuth({
      ...{ clientId, material, clock, random },
      secretPlacement: chooseSecretPlacement(settings, tokenEndpoint),
      tokenEndpoint: tokenEndpoint.url,
    });
    // What the exchange itself fills in counts more than what the provider is always told.
    const body = new URLSearchParams({
      ...settings.parameters,
      ...Object.fromEntries([...formFields, ...fields]),
    });
    dpopProof = prover?.createProof('POST', tokenEndpoint.url) ?? '';
    const dpopHeader = prover && { dpop: dpopProof };
    return sendProviderRequest({ fetch, clock }, tokenEndpoint.url, {
      method: 'POST',
      headers: { ...headers, ...dpopHeader, 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
      signal,
    });
  };
  const first = await post();
  if (!prover?.recordNonce(tokenEndpoint.url, first.header('dpop-nonce'), dpopProof) || !requiresNonce(first))
    return first;
  // Nothing was done there but saying what to repeat (RFC 9449, section 8). Once: who asks again asks for something else.
  const second = await post();
  prover.recordNonce(tokenEndpoint.url, second.header('dpop-nonce'), dpopProof);
  return second;
}

function requiresNonce({ status, text }: ProviderResponse): boolean {
  return status === 400 && parseJsonObject(text)?.['error'] === 'use_dpop_nonce';
}

/** A stock configuration says nothing, and its login asks the metadata: the exchange does what the login does. */
function chooseSecretPlacement(
  { clientAuth, isDerived }: PostGrantParts['settings'],
  { authMethods }: ProviderTokenEndpoint,
): 'basic' | 'post' {
  if (clientAuth === 'post') return 'post';
  return isDerived && authMethods?.includes('client_secret_post') === true ? 'post' : 'basic';
}

/** Whoever names a method wants that one: another, or none, would show the provider what it must not see. */
function matchesClientAuth(
  { clientAuth }: PostGrantParts['settings'],
  { kind }: CredentialMaterial,
): boolean {
  if (clientAuth === undefined) return true;
  return clientAuth === 'private_key_jwt' ? kind === 'key' || kind === 'assertion' : kind === 'secret';
}
