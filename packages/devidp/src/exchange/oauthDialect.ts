import type { Clock } from '@behalf/kernel';
import type { JWTPayload } from 'jose';
import { listClientAudiences, type DevClient } from '../directory.ts';
import { verifyClient } from './clientVerification.ts';
import { pickProvenClaims } from './claimsRequest.ts';
import {
  type Dialect,
  type ExchangeGrant,
  JWT_BEARER,
  TOKEN_EXCHANGE,
  TokenRefusal,
  tokenTypes,
} from './exchangeHandler.ts';
import { requireConsent, resolveTargetByName, type DevResource, type TargetFault } from './resources.ts';
import type {
  RefreshSubject,
  SubjectFault,
  SubjectVerifier,
  VerifiedSubject,
  VerifyRefreshToken,
} from './subjects.ts';

interface OAuthDialectParts {
  issuer: string;
  tokenEndpoint: string;
  clients: readonly DevClient[];
  resources: readonly DevResource[];
  subjectVerifier: SubjectVerifier;
  verifyRefreshToken: VerifyRefreshToken;
  clock: Clock;
  /** The error for an invalid subject token: as in RFC 8693, or as many providers return it. */
  subjectTokenError: 'invalid_request' | 'invalid_grant';
}

const targetErrors: Record<TargetFault['fault'], string> = {
  'scope-missing': 'invalid_request',
  'default-mixed': 'invalid_scope',
  'several-resources': 'invalid_target',
  'unknown-resource': 'invalid_target',
  'unknown-scope': 'invalid_scope',
  'no-consent': 'invalid_grant',
};

/** The maximum lifetime of such an assertion. */
const ID_JAG_SECONDS = 300;

/** RFC 8693 (token exchange) and RFC 7523 (jwt-bearer) at a generic token endpoint. */
export function createOAuthDialect(parts: OAuthDialectParts): Dialect {
  const { issuer, tokenEndpoint, clients, resources, subjectVerifier, clock } = parts;

  const requireField = (form: URLSearchParams, name: string): string => {
    const value = form.get(name);
    if (value === null || value === '') throw createRefusal('invalid_request', `${name} is missing.`);
    return value;
  };
  const requireSubject = <T>(subject: T | SubjectFault, error: string): T => {
    if (typeof subject === 'string') throw createRefusal(error, `The token is not valid: ${subject}.`);
    return subject;
  };
  const resolveTarget = (form: URLSearchParams, subject: VerifiedSubject): ExchangeGrant['target'] => {
    const targets = [...form.getAll('audience'), ...form.getAll('resource')];
    const resolved = resolveTargetByName({ targets, scope: form.get('scope') ?? '' }, resources);
    const target = requireConsent(resolved, subject.user.id);
    if ('fault' in target)
      throw createRefusal(targetErrors[target.fault], `The target is not valid: ${target.fault}.`);
    return target;
  };
  const toResponseFields = ({ scopes }: ExchangeGrant['target']) => ({
    token_type: 'Bearer',
    scope: scopes.join(' '),
  });

  async function exchangeJwtBearer(form: URLSearchParams, client: DevClient): Promise<ExchangeGrant> {
    const token = requireField(form, 'assertion');
    const subject = requireSubject(
      await subjectVerifier.verifyAccessToken(token, listClientAudiences(client)),
      'invalid_grant',
    );
    const target = resolveTarget(form, subject);
    const claims = { scope: target.scopes.join(' '), ...pickProvenClaims(subject.claims) };
    return { subject, client, target, claims, responseFields: toResponseFields(target) };
  }

  async function exchangeToken(form: URLSearchParams, client: DevClient): Promise<ExchangeGrant> {
    const token = requireField(form, 'subject_token');
    const type = requireField(form, 'subject_token_type');
    const requestedType = form.get('requested_token_type') ?? tokenTypes.accessToken;
    // A refresh token can only be exchanged for an ID-JAG. Access tokens require the refresh grant.
    if (type === tokenTypes.refreshToken && requestedType !== tokenTypes.idJag) {
      throw createRefusal('invalid_request', 'subject_token_type is not supported.');
    }
    const subject = requireSubject<RefreshSubject>(
      await verifySubjectToken(type, token, client),
      parts.subjectTokenError,
    );
    const act = await verifyActorToken(form, subject.claims);
    if (requestedType === tokenTypes.idJag) return issueIdJag(form, client, subject, type);
    if (requestedType !== tokenTypes.accessToken && requestedType !== tokenTypes.jwt) {
      throw createRefusal('invalid_request', 'requested_token_type is not supported.');
    }
    const target = resolveTarget(form, subject);
    return {
      ...{ subject, client, target },
      claims: { scope: target.scopes.join(' '), ...(act && { act }), ...pickProvenClaims(subject.claims) },
      responseFields: {
        ...toResponseFields(target),
        issued_token_type: requestedType,
        // A token that was not requested as an access token must not be used as one (RFC 8693 section 2.2.1).
        ...(requestedType === tokenTypes.jwt && { token_type: 'N_A' }),
      },
    };
  }

  /**
   * Issues an assertion for the authorization server of a resource
   * (draft-ietf-oauth-identity-assertion-authz-grant).
   */
  function issueIdJag(
    form: URLSearchParams,
    client: DevClient,
    subject: RefreshSubject,
    subjectType: string,
  ): ExchangeGrant {
    if (subjectType !== tokenTypes.idToken && subjectType !== tokenTypes.refreshToken) {
      throw createRefusal(
        'invalid_request',
        'An identity assertion requires an ID token or a refresh token.',
      );
    }
    const audience = requireField(form, 'audience');
    const clientId = client.idJagClients?.[audience];
    if (clientId === undefined)
      throw createRefusal('invalid_target', 'The client is not known to that audience.');
    const resource = requireField(form, 'resource');
    const resolved = resolveTargetByName({ targets: [resource], scope: form.get('scope') ?? '' }, resources);
    const target = requireConsent(resolved, subject.user.id);
    if ('fault' in target)
      throw createRefusal(targetErrors[target.fault], `The target is not valid: ${target.fault}.`);
    const scope = target.scopes.join(' ');
    return {
      ...{ subject, client, target },
      claims: { client_id: clientId, azp: undefined, resource, scope },
      responseFields: {
        ...{ token_type: 'N_A', issued_token_type: tokenTypes.idJag, scope },
        ...(subject.successor !== undefined && { refresh_token: subject.successor }),
      },
      assertion: { type: 'oauth-id-jag+jwt', audience, lifetimeSeconds: ID_JAG_SECONDS },
    };
  }

  async function verifySubjectToken(
    type: string,
    token: string,
    client: DevClient,
  ): Promise<RefreshSubject | SubjectFault> {
    if (type === tokenTypes.refreshToken) return parts.verifyRefreshToken(token, client.id);
    if (type === tokenTypes.idToken) return subjectVerifier.verifyIdToken(token, client.id);
    if (type === tokenTypes.accessToken || type === tokenTypes.jwt)
      return subjectVerifier.verifyAccessToken(token, listClientAudiences(client));
    throw createRefusal('invalid_request', 'subject_token_type is not supported.');
  }

  /** The actor of the exchange, with earlier actors nested (RFC 8693 section 4.1). */
  async function verifyActorToken(form: URLSearchParams, subject: JWTPayload) {
    const type = form.get('actor_token_type');
    if (form.get('actor_token') === null) {
      if (type !== null) throw createRefusal('invalid_request', 'actor_token_type requires actor_token.');
      return undefined;
    }
    if (type !== tokenTypes.accessToken && type !== tokenTypes.jwt) {
      throw createRefusal('invalid_request', 'actor_token_type is missing or not supported.');
    }
    const actor = requireSubject(
      await subjectVerifier.verifyToken(requireField(form, 'actor_token')),
      parts.subjectTokenError,
    );
    return { sub: actor.sub, ...(subject.act !== undefined && { act: subject.act }) };
  }

  return {
    issuer,
    type: 'at+jwt',
    createThrottle: (seconds) =>
      new TokenRefusal(
        429,
        { error: 'temporarily_unavailable', error_description: 'Too many requests.' },
        seconds === undefined ? {} : { 'retry-after': String(seconds) },
      ),
    createChallenge: (claims) =>
      new TokenRefusal(400, {
        ...{ error: 'interaction_required', error_description: 'The user must sign in again.' },
        claims,
      }),
    async grant({ form, headers }) {
      const verificationParts = {
        clients,
        clock,
        audiences: { token_endpoint: tokenEndpoint, issuer },
        requiresThumbprint: false,
      };
      const client = await verifyClient({ form, headers }, verificationParts);
      if (typeof client === 'string') {
        const challengeHeader = headers.authorization !== undefined && {
          'www-authenticate': 'Basic realm="token"',
        };
        const body = {
          error: 'invalid_client',
          error_description: `The client authentication failed: ${client}.`,
        };
        throw new TokenRefusal(401, body, challengeHeader || {});
      }
      const grantType = form.get('grant_type');
      if (grantType === TOKEN_EXCHANGE) return exchangeToken(form, client);
      if (grantType === JWT_BEARER) return exchangeJwtBearer(form, client);
      throw createRefusal('unsupported_grant_type', 'The grant type is not supported.');
    },
  };
}

function createRefusal(error: string, description: string): TokenRefusal {
  return new TokenRefusal(400, { error, error_description: description });
}
