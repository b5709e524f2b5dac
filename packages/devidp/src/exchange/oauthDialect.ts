import type { Clock } from '@behalf/kernel';
import type { JWTPayload } from 'jose';
import { audiencesOf, type DevClient } from '../clients.ts';
import { proveClient } from './clientProofs.ts';
import { provenIn } from './demandedClaims.ts';
import { JWT_BEARER, TOKEN_EXCHANGE, tokenTypes, type Dialect, type Granted } from './grants.ts';
import { Refusal } from './refusal.ts';
import { consented, targetNamed, type DevResource, type TargetFault } from './resources.ts';
import type { ProveRefreshToken, RefreshSubject } from './refreshSubjects.ts';
import type { ProvenSubject, SubjectFault, Subjects } from './subjects.ts';

export interface OAuthParts {
  issuer: string;
  tokenEndpoint: string;
  clients: readonly DevClient[];
  resources: readonly DevResource[];
  subjects: Subjects;
  proveRefreshToken: ProveRefreshToken;
  clock: Clock;
  /** How a subject token that does not hold is answered: as RFC 8693 says, or as many providers do. */
  subjectError: 'invalid_request' | 'invalid_grant';
}

const targetErrors: Record<TargetFault['fault'], string> = {
  'nothing-asked': 'invalid_request',
  'default-mixed': 'invalid_scope',
  'several-resources': 'invalid_target',
  'unknown-resource': 'invalid_target',
  'unknown-scope': 'invalid_scope',
  'no-consent': 'invalid_grant',
};

/** As long as such an assertion may live. */
const ID_JAG_SECONDS = 300;

/** RFC 8693 (token-exchange) and RFC 7523 (jwt-bearer) at a token endpoint of no particular vendor. */
export function createOAuthDialect(parts: OAuthParts): Dialect {
  const { issuer, tokenEndpoint, clients, resources, subjects, clock } = parts;

  const required = (form: URLSearchParams, name: string): string => {
    const value = form.get(name);
    if (value === null || value === '') throw refused('invalid_request', `${name} is missing.`);
    return value;
  };
  const holding = <T>(subject: T | SubjectFault, error: string): T => {
    if (typeof subject === 'string') throw refused(error, `The token does not hold: ${subject}.`);
    return subject;
  };
  const targetOf = (form: URLSearchParams, subject: ProvenSubject): Granted['target'] => {
    const targets = [...form.getAll('audience'), ...form.getAll('resource')];
    const found = targetNamed({ targets, scope: form.get('scope') ?? '' }, resources);
    const target = consented(found, subject.user.id);
    if ('fault' in target)
      throw refused(targetErrors[target.fault], `The target is not one: ${target.fault}.`);
    return target;
  };
  const answerOf = ({ scopes }: Granted['target']) => ({ token_type: 'Bearer', scope: scopes.join(' ') });

  async function bearer(form: URLSearchParams, client: DevClient): Promise<Granted> {
    const token = required(form, 'assertion');
    const subject = holding(await subjects.prove(token, audiencesOf(client)), 'invalid_grant');
    const target = targetOf(form, subject);
    const claims = { scope: target.scopes.join(' '), ...provenIn(subject.claims) };
    return { subject, client, target, claims, answer: answerOf(target) };
  }

  async function exchange(form: URLSearchParams, client: DevClient): Promise<Granted> {
    const token = required(form, 'subject_token');
    const type = required(form, 'subject_token_type');
    const issued = form.get('requested_token_type') ?? tokenTypes.accessToken;
    // Of nothing else: an access token is given for it by a refresh.
    if (type === tokenTypes.refreshToken && issued !== tokenTypes.idJag) {
      throw refused('invalid_request', 'subject_token_type is not supported.');
    }
    const subject = holding<RefreshSubject>(await proveAs(type, token, client), parts.subjectError);
    const act = await actorOf(form, subject.claims);
    if (issued === tokenTypes.idJag) return assertIdentity(form, client, subject, type);
    if (issued !== tokenTypes.accessToken && issued !== tokenTypes.jwt) {
      throw refused('invalid_request', 'requested_token_type is not supported.');
    }
    const target = targetOf(form, subject);
    return {
      ...{ subject, client, target },
      claims: { scope: target.scopes.join(' '), ...(act && { act }), ...provenIn(subject.claims) },
      answer: {
        ...answerOf(target),
        issued_token_type: issued,
        // What was not asked for as an access token is not to be used as one (RFC 8693, section 2.2.1).
        ...(issued === tokenTypes.jwt && { token_type: 'N_A' }),
      },
    };
  }

  /** An assertion for the authorization server of a resource (draft-ietf-oauth-identity-assertion-authz-grant). */
  function assertIdentity(
    form: URLSearchParams,
    client: DevClient,
    subject: RefreshSubject,
    subjectType: string,
  ): Granted {
    if (subjectType !== tokenTypes.idToken && subjectType !== tokenTypes.refreshToken) {
      throw refused('invalid_request', 'An identity assertion is given for an ID token or a refresh token.');
    }
    const audience = required(form, 'audience');
    const clientId = client.idJagClients?.[audience];
    if (clientId === undefined) throw refused('invalid_target', 'The client is not known to that audience.');
    const resource = required(form, 'resource');
    const found = targetNamed({ targets: [resource], scope: form.get('scope') ?? '' }, resources);
    const target = consented(found, subject.user.id);
    if ('fault' in target)
      throw refused(targetErrors[target.fault], `The target is not one: ${target.fault}.`);
    const scope = target.scopes.join(' ');
    return {
      ...{ subject, client, target },
      claims: { client_id: clientId, azp: undefined, resource, scope },
      answer: {
        ...{ token_type: 'N_A', issued_token_type: tokenTypes.idJag, scope },
        ...(subject.successor !== undefined && { refresh_token: subject.successor }),
      },
      assertion: { type: 'oauth-id-jag+jwt', audience, lifetimeSeconds: ID_JAG_SECONDS },
    };
  }

  async function proveAs(
    type: string,
    token: string,
    client: DevClient,
  ): Promise<RefreshSubject | SubjectFault> {
    if (type === tokenTypes.refreshToken) return parts.proveRefreshToken(token, client.id);
    if (type === tokenTypes.idToken) return subjects.proveIdToken(token, client.id);
    if (type === tokenTypes.accessToken || type === tokenTypes.jwt)
      return subjects.prove(token, audiencesOf(client));
    throw refused('invalid_request', 'subject_token_type is not supported.');
  }

  /** Who acts for the subject, with who acted before inside (RFC 8693, section 4.1). */
  async function actorOf(form: URLSearchParams, subject: JWTPayload) {
    const type = form.get('actor_token_type');
    if (form.get('actor_token') === null) {
      if (type !== null) throw refused('invalid_request', 'actor_token_type stands alone.');
      return undefined;
    }
    if (type !== tokenTypes.accessToken && type !== tokenTypes.jwt) {
      throw refused('invalid_request', 'actor_token_type is missing or not supported.');
    }
    const actor = holding(await subjects.verify(required(form, 'actor_token')), parts.subjectError);
    return { sub: actor.sub, ...(subject.act !== undefined && { act: subject.act }) };
  }

  return {
    issuer,
    type: 'at+jwt',
    throttled: (seconds) =>
      new Refusal(
        429,
        { error: 'temporarily_unavailable', error_description: 'Too many requests.' },
        seconds === undefined ? {} : { 'retry-after': String(seconds) },
      ),
    challenged: (claims) =>
      new Refusal(400, {
        ...{ error: 'interaction_required', error_description: 'The user must sign in again.' },
        claims,
      }),
    async grant({ form, headers }) {
      const proof = { clients, clock, audiences: [tokenEndpoint, issuer], namesCertificate: false };
      const client = await proveClient({ form, headers }, proof);
      if (typeof client === 'string') {
        const asked = headers.authorization !== undefined && { 'www-authenticate': 'Basic realm="token"' };
        const body = { error: 'invalid_client', error_description: `The client is not proven: ${client}.` };
        throw new Refusal(401, body, asked || {});
      }
      const grantType = form.get('grant_type');
      if (grantType === TOKEN_EXCHANGE) return exchange(form, client);
      if (grantType === JWT_BEARER) return bearer(form, client);
      throw refused('unsupported_grant_type', 'The grant type is not supported.');
    },
  };
}

function refused(error: string, description: string): Refusal {
  return new Refusal(400, { error, error_description: description });
}
