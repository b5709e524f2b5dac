import { ExchangeFault } from '../exchangeFault.ts';
import type { ExchangeProvider } from '../exchangeProvider.ts';
import { ask } from './ask.ts';
import { clientAuth } from './clientAuth.ts';
import type { Proof } from './clientCredential.ts';
import type { TokenEndpoint } from './endpointSource.ts';
import { jwtBearerFields, tokenExchangeFields } from './exchangeForm.ts';
import { createIdentity, type ProviderParts } from './providerParts.ts';
import { readToken } from './tokenAnswer.ts';

/** Any provider that speaks RFC 7523 or RFC 8693. */
export function createFormProvider(
  parts: ProviderParts,
  grant: 'jwt-bearer' | 'token-exchange',
): ExchangeProvider {
  const { settings, fetch, endpoint, credential, actor, clock, random } = parts;
  const { name, clientId, requestedTokenType } = settings;
  const identity = createIdentity(parts, grant);

  /** A stock configuration says nothing, and its login asks the metadata: the exchange does what the login does. */
  function secretIn({ authMethods }: TokenEndpoint): 'basic' | 'post' {
    if (settings.clientAuth === 'post') return 'post';
    return settings.isDerived && authMethods?.includes('client_secret_post') === true ? 'post' : 'basic';
  }

  /** Whoever names a method wants that one: another, or none, would show the provider what it must not see. */
  function proves({ kind }: Proof): boolean {
    if (settings.clientAuth === undefined) return true;
    return settings.clientAuth === 'private_key_jwt'
      ? kind === 'key' || kind === 'assertion'
      : kind === 'secret';
  }

  const misconfigured = (hint: string) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}` });

  return {
    get identity() {
      return identity();
    },
    async exchange(request, signal) {
      if (clientId === undefined) throw misconfigured('clientId is missing');
      const [to, proof, actorToken] = await Promise.all([
        endpoint.current(),
        credential.read(),
        grant === 'token-exchange' ? actor.read() : undefined,
      ]);
      if (!proves(proof)) throw misconfigured('what clientAuth asks for is missing');
      const { headers, fields } = await clientAuth({
        ...{ clientId, proof, clock, random },
        secretIn: secretIn(to),
        tokenEndpoint: to.url,
      });
      const form =
        grant === 'jwt-bearer'
          ? jwtBearerFields(request, settings)
          : tokenExchangeFields(request, settings, actorToken);
      // What the exchange itself fills in counts more than what the provider is always told.
      const body = new URLSearchParams({
        ...settings.parameters,
        ...Object.fromEntries([...form, ...fields]),
      });
      const answer = await ask({ fetch, clock }, to.url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: body.toString(),
        signal,
      });
      return readToken(answer, { clock, grant, requestedTokenType });
    },
  };
}
