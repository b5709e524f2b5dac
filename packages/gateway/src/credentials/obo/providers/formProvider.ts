import type { ExchangeProvider } from '../exchangeProvider.ts';
import { jwtBearerFields, tokenExchangeFields } from './exchangeForm.ts';
import { postGrant } from './postGrant.ts';
import { createProviderIdentity, type ProviderParts } from './providerParts.ts';
import { readTokenResponse } from './tokenResponse.ts';

/** Any provider that speaks RFC 7523 or RFC 8693. */
export function createFormProvider(
  parts: ProviderParts,
  grant: 'jwt-bearer' | 'token-exchange',
): ExchangeProvider {
  const { settings, actor, clock } = parts;
  const { requestedTokenType } = settings;
  const identity = createProviderIdentity(parts, grant);

  return {
    get identity() {
      return identity();
    },
    isKeyBound: settings.dpop === 'require',
    async exchange(request, signal) {
      const buildFields = async () =>
        grant === 'jwt-bearer'
          ? jwtBearerFields(request, settings)
          : tokenExchangeFields(request, settings, await actor.read());
      const response = await postGrant(parts, buildFields, signal, request.prover);
      return readTokenResponse(response, {
        clock,
        grant,
        requestedTokenType,
        isBound: request.prover !== undefined,
      });
    },
  };
}
