import type { HiddenText } from '@behalf/kernel';
import type { ExchangeProvider, ExchangeRequest } from '../exchangeProvider.ts';
import { ID_JAG_TYPE } from './idJag.ts';
import { type EffectiveSettings, type ProviderParts, createProviderIdentity } from './providerSettings.ts';
import { postGrant } from './tokenRequest.ts';
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

type Field = readonly [name: string, value: string];

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TOKEN_TYPE_PREFIX = 'urn:ietf:params:oauth:token-type:';

/** RFC 7523, section 2.1. */
function jwtBearerFields(request: ExchangeRequest, settings: EffectiveSettings): Field[] {
  return [
    ['grant_type', JWT_BEARER],
    ['assertion', request.subject.token.reveal()],
    // A stock configuration expects it; who declares a provider says so there.
    ...optionalField('requested_token_use', settings.isDerived ? 'on_behalf_of' : undefined),
    ...requestFields(request),
  ];
}

/** RFC 8693, section 2.1. */
function tokenExchangeFields(
  request: ExchangeRequest,
  settings: EffectiveSettings,
  actorToken: string | undefined,
): Field[] {
  return [
    ['grant_type', TOKEN_EXCHANGE],
    ['subject_token', request.subject.token.reveal()],
    ['subject_token_type', settings.subjectTokenType ?? `${TOKEN_TYPE_PREFIX}access_token`],
    ...optionalField('actor_token', actorToken),
    ...optionalField('actor_token_type', actorToken === undefined ? undefined : `${TOKEN_TYPE_PREFIX}jwt`),
    ...optionalField('requested_token_type', settings.requestedTokenType),
    ...requestFields(request),
  ];
}

/** The first leg of enterprise-managed authorization: of what the provider gave for the user, an assertion for one authorization server. */
export function idJagFields(request: ExchangeRequest, token: HiddenText): Field[] {
  const type = request.subject.withRefreshToken ? 'refresh_token' : 'id_token';
  return [
    ['grant_type', TOKEN_EXCHANGE],
    ['requested_token_type', ID_JAG_TYPE],
    ['subject_token', token.reveal()],
    ['subject_token_type', `${TOKEN_TYPE_PREFIX}${type}`],
    ...requestFields(request),
  ];
}

/** The second leg. Scopes and resource stand in the assertion: what was narrowed there is not asked for again. */
export function assertionFields(assertion: string): Field[] {
  return [
    ['grant_type', JWT_BEARER],
    ['assertion', assertion],
  ];
}

function requestFields({ scopes, audience, resource, claims }: ExchangeRequest): Field[] {
  return [
    ...optionalField('scope', scopes.length === 0 ? undefined : scopes.join(' ')),
    ...optionalField('audience', audience),
    ...optionalField('resource', resource),
    ...optionalField('claims', claims),
  ];
}

function optionalField(name: string, value: string | undefined): Field[] {
  return value === undefined ? [] : [[name, value]];
}
