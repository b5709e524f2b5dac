import { ExchangeFault } from '../exchangeFault.ts';
import type { Prover } from '../../dpop/dpop.ts';
import { ask, readObject, type Answer } from './ask.ts';
import { clientAuth } from './clientAuth.ts';
import type { Proof } from './clientCredential.ts';
import type { TokenEndpoint } from './endpointSource.ts';
import type { ProviderParts } from './providerParts.ts';

type Field = readonly [name: string, value: string];

export type PostParts = Pick<
  ProviderParts,
  'settings' | 'fetch' | 'endpoint' | 'credential' | 'clock' | 'random'
>;

/** One form to a token endpoint, in the name of the entry's client. Rejects with ExchangeFault. */
export async function postGrant(
  parts: PostParts,
  fieldsOf: () => readonly Field[] | Promise<readonly Field[]>,
  signal: AbortSignal,
  prover?: Prover,
): Promise<Answer> {
  const { settings, fetch, endpoint, credential, clock, random } = parts;
  const { name, clientId } = settings;
  const misconfigured = (hint: string) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}` });
  if (clientId === undefined) throw misconfigured('clientId is missing');
  const [to, proof, form] = await Promise.all([endpoint.current(), credential.read(), fieldsOf()]);
  if (!proves(settings, proof)) throw misconfigured('what clientAuth asks for is missing');
  let possession = '';
  const post = async () => {
    // Anew for each request: an assertion is good once.
    const { headers, fields } = await clientAuth({
      ...{ clientId, proof, clock, random },
      secretIn: secretIn(settings, to),
      tokenEndpoint: to.url,
    });
    // What the exchange itself fills in counts more than what the provider is always told.
    const body = new URLSearchParams({
      ...settings.parameters,
      ...Object.fromEntries([...form, ...fields]),
    });
    possession = prover?.createProof('POST', to.url) ?? '';
    const proven = prover && { dpop: possession };
    return ask({ fetch, clock }, to.url, {
      method: 'POST',
      headers: { ...headers, ...proven, 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
      signal,
    });
  };
  const first = await post();
  if (!prover?.recordNonce(to.url, first.header('dpop-nonce'), possession) || !wantsNonce(first))
    return first;
  // Nothing was done there but saying what to repeat (RFC 9449, section 8). Once: who asks again asks for something else.
  const second = await post();
  prover.recordNonce(to.url, second.header('dpop-nonce'), possession);
  return second;
}

function wantsNonce({ status, text }: Answer): boolean {
  return status === 400 && readObject(text)?.['error'] === 'use_dpop_nonce';
}

/** A stock configuration says nothing, and its login asks the metadata: the exchange does what the login does. */
function secretIn(
  { clientAuth, isDerived }: PostParts['settings'],
  { authMethods }: TokenEndpoint,
): 'basic' | 'post' {
  if (clientAuth === 'post') return 'post';
  return isDerived && authMethods?.includes('client_secret_post') === true ? 'post' : 'basic';
}

/** Whoever names a method wants that one: another, or none, would show the provider what it must not see. */
function proves({ clientAuth }: PostParts['settings'], { kind }: Proof): boolean {
  if (clientAuth === undefined) return true;
  return clientAuth === 'private_key_jwt' ? kind === 'key' || kind === 'assertion' : kind === 'secret';
}
