import { parseUrl } from '@behalf/contracts';
import type { FlowError } from '@behalf/contracts';

/** What an authorization server sends back through the browser. */
export interface CallbackParameters {
  readonly state: string;
  readonly code: string | null;
  readonly error: string | null;
  readonly iss: string | null;
}

const CALLBACK_PARAMETERS = ['state', 'code', 'error', 'error_description', 'error_uri', 'iss'] as const;

/** A parameter that comes twice has two readers who disagree (RFC 6749, section 3.1): nothing of it is believed. */
export function readCallback(query: URLSearchParams): CallbackParameters | FlowError {
  if (CALLBACK_PARAMETERS.some((name) => query.getAll(name).length > 1)) return 'callback_failed';
  const state = query.get('state');
  if (state === null || state === '') return 'missing_state';
  return { state, code: query.get('code') || null, error: query.get('error') || null, iss: query.get('iss') };
}

/**
 * RFC 9207: whoever says that it names itself does so each time, and whatever name comes is compared letter by letter. Where the
 * definition gives endpoints and no name, it must at least be one of the same place.
 */
export function isFromIssuer(
  iss: string | null,
  {
    issuer,
    hasIssuerIdentifier,
    isIssParameterSupported,
  }: {
    readonly issuer: string;
    readonly hasIssuerIdentifier: boolean;
    readonly isIssParameterSupported: boolean;
  },
): boolean {
  if (iss === null) return !isIssParameterSupported;
  if (hasIssuerIdentifier) return iss === issuer;
  return parseUrl(iss)?.origin === new URL(issuer).origin;
}

/** RFC 6749, section 4.1.2.1, and OpenID Connect. Everything else is a text of somebody else and is not repeated. */
const KNOWN_ERRORS: ReadonlyMap<string, FlowError> = new Map<string, FlowError>([
  ['access_denied', 'access_denied'],
  ['consent_required', 'access_denied'],
  ['server_error', 'server_error'],
  ['temporarily_unavailable', 'temporarily_unavailable'],
  ['invalid_scope', 'invalid_scope'],
]);

export function toFlowError(error: string): FlowError {
  return KNOWN_ERRORS.get(error) ?? 'provider_error';
}
