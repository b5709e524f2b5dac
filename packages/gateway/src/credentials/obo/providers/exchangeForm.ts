import type { HiddenText } from '@behalf/kernel';
import type { ExchangeRequest } from '../exchangeProvider.ts';
import type { EffectiveSettings } from './effectiveSettings.ts';
import { ID_JAG_TYPE } from './idJagAnswer.ts';

type Field = readonly [name: string, value: string];

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:';

/** RFC 7523, section 2.1. */
export function jwtBearerFields(request: ExchangeRequest, settings: EffectiveSettings): Field[] {
  return [
    ['grant_type', JWT_BEARER],
    ['assertion', request.subject.token.reveal()],
    // A stock configuration expects it; who declares a provider says so there.
    ...field('requested_token_use', settings.isDerived ? 'on_behalf_of' : undefined),
    ...asked(request),
  ];
}

/** RFC 8693, section 2.1. */
export function tokenExchangeFields(
  request: ExchangeRequest,
  settings: EffectiveSettings,
  actorToken: string | undefined,
): Field[] {
  return [
    ['grant_type', TOKEN_EXCHANGE],
    ['subject_token', request.subject.token.reveal()],
    ['subject_token_type', settings.subjectTokenType ?? `${TOKEN_TYPE}access_token`],
    ...field('actor_token', actorToken),
    ...field('actor_token_type', actorToken === undefined ? undefined : `${TOKEN_TYPE}jwt`),
    ...field('requested_token_type', settings.requestedTokenType),
    ...asked(request),
  ];
}

/** The first leg of enterprise-managed authorization: of what the provider gave for the user, an assertion for one authorization server. */
export function idJagFields(request: ExchangeRequest, token: HiddenText): Field[] {
  const type = request.subject.lend ? 'refresh_token' : 'id_token';
  return [
    ['grant_type', TOKEN_EXCHANGE],
    ['requested_token_type', ID_JAG_TYPE],
    ['subject_token', token.reveal()],
    ['subject_token_type', `${TOKEN_TYPE}${type}`],
    ...asked(request),
  ];
}

/** The second leg. Scopes and resource stand in the assertion: what was narrowed there is not asked for again. */
export function assertionFields(assertion: string): Field[] {
  return [
    ['grant_type', JWT_BEARER],
    ['assertion', assertion],
  ];
}

function asked({ scopes, audience, resource, claims }: ExchangeRequest): Field[] {
  return [
    ...field('scope', scopes.length === 0 ? undefined : scopes.join(' ')),
    ...field('audience', audience),
    ...field('resource', resource),
    ...field('claims', claims),
  ];
}

function field(name: string, value: string | undefined): Field[] {
  return value === undefined ? [] : [[name, value]];
}
