import { randomUUID } from 'node:crypto';
import type { Clock } from '@behalf/kernel';
import { type DevClient, listClientAudiences } from '../directory.ts';
import { isRecord, pickProvenClaims, satisfiesClaimsRequest } from './claimsRequest.ts';
import { type ClientFault, verifyClient } from './clientVerification.ts';
import { type Dialect, JWT_BEARER, TokenRefusal } from './exchangeHandler.ts';
import { type DevResource, type TargetFault, requireConsent, resolveTargetByScope } from './resources.ts';
import type { SubjectFault, SubjectVerifier } from './subjects.ts';

interface EntraDialectParts {
  tenant: string;
  issuer: string;
  tokenEndpoint: string;
  clients: readonly DevClient[];
  resources: readonly DevResource[];
  subjectVerifier: SubjectVerifier;
  clock: Clock;
}

type EntraError = readonly [AadstsCode, string];

const clientErrors: Record<ClientFault, EntraError> = {
  'missing-client-id': [900144, "The request body must contain the following parameter: 'client_id'."],
  'unknown-client': [700016, 'The application was not found in the directory.'],
  'missing-credentials': [7000218, "The request body must contain 'client_assertion' or 'client_secret'."],
  'invalid-secret': [7000215, 'Invalid client secret provided.'],
  'invalid-assertion': [700027, 'The client assertion failed signature validation.'],
  'assertion-expired': [700024, 'The client assertion is not within its valid time range.'],
  'no-federated-credential': [
    700211,
    'No matching federated identity record found for the presented assertion.',
  ],
};

const subjectErrors: Record<SubjectFault, EntraError> = {
  'unrecognized-token': [50013, 'The assertion failed signature validation.'],
  'wrong-issuer': [50013, 'The issuer of the assertion is not one this directory trusts.'],
  'outside-validity-period': [500133, 'The assertion is not within its valid time range.'],
  'wrong-audience': [50013, 'The audience of the assertion is not the application that presents it.'],
  'id-token': [240002, 'An id token cannot be used as the assertion of this grant.'],
  'app-only': [7000114, 'The application is not allowed to make application on-behalf-of calls.'],
  'unknown-user': [50034, 'The user account does not exist in the directory.'],
};

const targetErrors: Record<TargetFault['fault'], EntraError> = {
  'scope-missing': [900144, "The request body must contain the following parameter: 'scope'."],
  'default-mixed': [70011, "The scope is not valid: '.default' cannot be combined with other scopes."],
  'several-resources': [28000, 'The scope is not valid: it contains more than one resource.'],
  'unknown-resource': [500011, 'The resource principal was not found in the tenant.'],
  'unknown-scope': [650053, 'The application asked for a scope that does not exist on the resource.'],
  'no-consent': [65001, 'The user or administrator has not consented to use the application.'],
};

/** On-Behalf-Of of Entra: a jwt-bearer grant with `requested_token_use`, and scopes that name their resource. */
export function createEntraDialect(parts: EntraDialectParts): Dialect {
  const { tenant, issuer, tokenEndpoint, clients, resources, subjectVerifier, clock } = parts;
  const createRefusal = ([code, text]: EntraError) => createAadstsRefusal(clock, code, text);
  const createChallenge = (claims: string): TokenRefusal =>
    createAadstsRefusal(clock, 50076, 'Multi-factor authentication is required to access the resource.', {
      claims,
    });

  return {
    issuer,
    type: 'JWT',
    createChallenge,
    createThrottle: (retryAfterSeconds) =>
      createAadstsRefusal(clock, 90055, 'There are too many incoming requests.', { retryAfterSeconds }),
    async grant({ form, headers }) {
      const audiences = { token_endpoint: tokenEndpoint };
      const verificationParts = { clients, clock, audiences, requiresThumbprint: true };
      const client = await verifyClient({ form, headers }, verificationParts);
      if (typeof client === 'string') throw createRefusal(clientErrors[client]);
      if (form.get('grant_type') !== JWT_BEARER || form.get('requested_token_use') !== 'on_behalf_of') {
        throw createRefusal([70003, 'The app requested an unsupported grant type.']);
      }
      const subject = await subjectVerifier.verifyAccessToken(
        form.get('assertion') ?? '',
        listClientAudiences(client),
      );
      if (typeof subject === 'string') throw createRefusal(subjectErrors[subject]);
      const target = requireConsent(
        resolveTargetByScope(form.get('scope') ?? '', resources),
        subject.user.id,
      );
      if ('fault' in target) throw createRefusal(targetErrors[target.fault]);
      const claims = readClaimsRequest(form.get('claims'));
      // A client capability (CP1) uses the same field and requires nothing.
      if (
        claims !== undefined &&
        !satisfiesClaimsRequest(claims, { ...subject.claims, iat: clock.now() / 1000 })
      ) {
        throw createChallenge(claims);
      }
      const { user } = subject;
      return {
        ...{ subject, client, target },
        claims: {
          ...{ ver: '2.0', oid: user.id, tid: user.tenant ?? tenant },
          ...{ scp: target.scopes.join(' '), azpacr: '1', ...pickProvenClaims(subject.claims) },
        },
        responseFields: {
          token_type: 'Bearer',
          scope: target.scopes.map((name) => `${target.resource.id}/${name}`).join(' '),
        },
      };
    },
  };
}

/** The part of `claims` that a token may fail to satisfy. */
function readClaimsRequest(text: string | null): string | undefined {
  if (text === null) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return text;
  }
  if (!isRecord(parsed) || !isRecord(parsed.access_token)) return undefined;
  const { xms_cc: _capabilities, ...requestedClaims } = parsed.access_token;
  return Object.keys(requestedClaims).length > 0
    ? JSON.stringify({ access_token: requestedClaims })
    : undefined;
}

interface AadstsEntry {
  readonly status: number;
  readonly error: string;
  readonly suberror?: string;
}

const createEntry = (error: string, overrides: Partial<AadstsEntry> = {}): AadstsEntry => ({
  status: 400,
  error,
  ...overrides,
});

/** Error numbers of Entra's token endpoint with their OAuth errors. */
const aadstsEntries = {
  28000: createEntry('invalid_scope'),
  50013: createEntry('invalid_grant'),
  50034: createEntry('invalid_grant'),
  50076: createEntry('interaction_required', { suberror: 'basic_action' }),
  65001: createEntry('invalid_grant', { suberror: 'consent_required' }),
  70003: createEntry('unsupported_grant_type'),
  70011: createEntry('invalid_scope'),
  90002: createEntry('invalid_request'),
  90055: createEntry('temporarily_unavailable', { status: 429 }),
  240002: createEntry('invalid_grant'),
  500011: createEntry('invalid_resource'),
  500133: createEntry('invalid_grant'),
  650053: createEntry('invalid_scope'),
  700016: createEntry('unauthorized_client'),
  700024: createEntry('invalid_client', { status: 401 }),
  700027: createEntry('invalid_client', { status: 401 }),
  700211: createEntry('invalid_client', { status: 401 }),
  900144: createEntry('invalid_request'),
  7000114: createEntry('invalid_grant'),
  7000215: createEntry('invalid_client', { status: 401 }),
  7000218: createEntry('invalid_client', { status: 401 }),
} as const satisfies Record<number, AadstsEntry>;

type AadstsCode = keyof typeof aadstsEntries;

interface AadstsDetail {
  readonly claims?: string;
  readonly retryAfterSeconds?: number | undefined;
}

/** An error in Entra's format: the number first, correlation data at the end. */
function createAadstsRefusal(
  clock: Clock,
  code: AadstsCode,
  text: string,
  detail: AadstsDetail = {},
): TokenRefusal {
  const { status, error, suberror }: AadstsEntry = aadstsEntries[code];
  const { claims, retryAfterSeconds } = detail;
  const [trace, correlation] = [randomUUID(), randomUUID()];
  const timestamp = `${new Date(clock.now()).toISOString().slice(0, 19).replace('T', ' ')}Z`;
  return new TokenRefusal(
    status,
    {
      error,
      error_description: `AADSTS${code}: ${text} Trace ID: ${trace} Correlation ID: ${correlation} Timestamp: ${timestamp}`,
      error_codes: [code],
      timestamp,
      trace_id: trace,
      correlation_id: correlation,
      ...(suberror !== undefined && { suberror }),
      ...(claims !== undefined && { claims }),
    },
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  );
}
