import { ExchangeFault } from '../exchangeFault.ts';
import { ask, type Answer } from './ask.ts';
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
): Promise<Answer> {
  const { settings, fetch, endpoint, credential, clock, random } = parts;
  const { name, clientId } = settings;
  const misconfigured = (hint: string) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}` });
  if (clientId === undefined) throw misconfigured('clientId is missing');
  const [to, proof, form] = await Promise.all([endpoint.current(), credential.read(), fieldsOf()]);
  if (!proves(settings, proof)) throw misconfigured('what clientAuth asks for is missing');
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
  return ask({ fetch, clock }, to.url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: body.toString(),
    signal,
  });
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
