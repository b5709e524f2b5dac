import type { ExchangeProvider } from '../exchangeProvider.ts';
import { jwtBearerFields, tokenExchangeFields } from './exchangeForm.ts';
import { postGrant } from './postGrant.ts';
import { createIdentity, type ProviderParts } from './providerParts.ts';
import { readToken } from './tokenAnswer.ts';

/** Any provider that speaks RFC 7523 or RFC 8693. */
export function createFormProvider(
  parts: ProviderParts,
  grant: 'jwt-bearer' | 'token-exchange',
): ExchangeProvider {
  const { settings, actor, clock } = parts;
  const { requestedTokenType } = settings;
  const identity = createIdentity(parts, grant);

  return {
    get identity() {
      return identity();
    },
    binds: settings.dpop === 'require',
    async exchange(request, signal) {
      const fields = async () =>
        grant === 'jwt-bearer'
          ? jwtBearerFields(request, settings)
          : tokenExchangeFields(request, settings, await actor.read());
      const answer = await postGrant(parts, fields, signal, request.prover);
      return readToken(answer, { clock, grant, requestedTokenType, isBound: request.prover !== undefined });
    },
  };
}
