import type { HiddenText } from '@behalf/kernel';
import type { ExchangeProvider, ExchangeRequest } from '../exchangeProvider.ts';
import { readTokenResponse } from './exchangeResponse.ts';
import { type GrantFields, createProviderIdentity } from './providerClient.ts';
import { type ProviderParts, requestFields } from './rfc7523.ts';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TOKEN_TYPE_PREFIX = 'urn:ietf:params:oauth:token-type:';
export const ID_JAG_TYPE = `${TOKEN_TYPE_PREFIX}id-jag`;

/** Token exchange (RFC 8693, section 2.1) with the user's access token as the subject token. */
export function createTokenExchangeProvider({ client, actor, clock }: ProviderParts): ExchangeProvider {
  const grant = 'token-exchange';
  const { subjectTokenType, requestedTokenType, dpop } = client.settings;
  const identity = createProviderIdentity({ client, actor, grant });
  return {
    get identity() {
      return identity();
    },
    isKeyBound: dpop === 'require',
    async exchange(request, signal) {
      const actorToken = await actor.read();
      const fields = {
        grant_type: TOKEN_EXCHANGE,
        subject_token: request.subject.token.reveal(),
        subject_token_type: subjectTokenType ?? `${TOKEN_TYPE_PREFIX}access_token`,
        ...(actorToken !== undefined && {
          actor_token: actorToken,
          actor_token_type: `${TOKEN_TYPE_PREFIX}jwt`,
        }),
        ...(requestedTokenType !== undefined && { requested_token_type: requestedTokenType }),
        ...requestFields(request),
      };
      const response = await client.postGrant(fields, signal, request.prover);
      const isBound = request.prover !== undefined;
      return readTokenResponse(response, { clock, grant, requestedTokenType, isBound });
    },
  };
}

/** The first exchange of `id-jag`: a token of the login for an assertion that one authorization server accepts. */
export function idJagFields(request: ExchangeRequest, token: HiddenText): GrantFields {
  const type = request.subject.withRefreshToken ? 'refresh_token' : 'id_token';
  return {
    grant_type: TOKEN_EXCHANGE,
    requested_token_type: ID_JAG_TYPE,
    subject_token: token.reveal(),
    subject_token_type: `${TOKEN_TYPE_PREFIX}${type}`,
    ...requestFields(request),
  };
}
