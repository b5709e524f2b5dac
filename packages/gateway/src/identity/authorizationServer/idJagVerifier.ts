import type { Clock } from '@behalf/kernel';
import { decodeJwt } from 'jose';
import type { Log } from '../../upstream/upstream.ts';
import type { OpenIdSettings, SigningKeySource } from '../openid/provider.ts';
import {
  type VerifiedIdentityParts,
  type VerifiedToken,
  readVerifiedIdentity,
} from '../openid/verifiedIdentity.ts';
import {
  CLOCK_TOLERANCE_MS,
  type Claims,
  TokenRefused,
  readClaim,
  readTextClaim,
  verifyJwt,
} from '../openid/verifyJwt.ts';
import type { AuthorizationServerRecords } from './authorizationServerRecords.ts';

/** Longer than any of them is meant to live; how long a used one is remembered follows from it. */
const MAX_LIFETIME_MS = 60 * 60 * 1000;

/** What a trusted issuer says: this client may act for this user at this endpoint. */
interface AcceptedIdJag {
  readonly verified: VerifiedToken;
  readonly resource: string;
}

/** An issuer that the operator trusts to say so. */
export interface IdJagIssuer {
  readonly keys: SigningKeySource;
  /** How its claims are read: as those of a login, where it is the login's. */
  readonly settings: OpenIdSettings;
  /** Of any other issuer: whose users it may speak of. Null: the login's. */
  readonly tenant: string | null;
}

interface IdJagVerifierParts {
  readonly issuers: ReadonlyMap<string, IdJagIssuer>;
  /** Our own name: for whom it must be meant. */
  readonly audience: () => string;
  readonly isResource: (url: string) => boolean;
  /** What our tokens are good for. */
  readonly scope: string;
  readonly records: Pick<AuthorizationServerRecords, 'add'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the request itself says. */
interface IdJagRequest {
  /** Who has proven to be this client. */
  readonly clientId: string;
  readonly resource?: string | undefined;
}

/** Identity Assertion JWT Authorization Grants, as an authorization server takes them. */
export interface IdJagVerifier {
  /** Null when it is refused; why is for the log alone. Each is good once, in all processes. */
  accept(assertion: string, request: IdJagRequest): Promise<AcceptedIdJag | null>;
}

export function createIdJagVerifier(parts: IdJagVerifierParts): IdJagVerifier {
  const { issuers, audience, isResource, scope, records, clock, log } = parts;

  function findIssuer(assertion: string): IdJagIssuer {
    let claimedIssuer: unknown;
    try {
      claimedIssuer = decodeJwt(assertion).iss;
    } catch {
      throw new TokenRefused('malformed');
    }
    const trusted = typeof claimedIssuer === 'string' ? issuers.get(claimedIssuer) : undefined;
    if (!trusted) throw new TokenRefused('issuer');
    return trusted;
  }

  async function verify(
    assertion: string,
    { clientId, resource: requestedResource }: IdJagRequest,
  ): Promise<AcceptedIdJag> {
    const { keys, settings, tenant } = findIssuer(assertion);
    const { issuer } = settings;
    const { header, claims } = await verifyJwt(assertion, {
      ...{ keys, clock, issuer },
      audience: [audience()],
    });
    if (header['typ'] !== 'oauth-id-jag+jwt') throw new TokenRefused('type');
    // Bound to a key of the client: whoever shows it alone may have stolen it.
    if ('cnf' in claims) throw new TokenRefused('key_bound');
    // One that is good at two servers can be shown by the one to the other.
    if ([claims['aud']].flat().length !== 1) throw new TokenRefused('audience');
    if (!allowsScope(claims['scope'], scope)) throw new TokenRefused('scope');
    if (claims['client_id'] !== clientId) throw new TokenRefused('client');
    const resource = claims['resource'];
    if (typeof resource !== 'string' || !isResource(resource)) throw new TokenRefused('audience');
    if (requestedResource !== undefined && requestedResource !== resource) throw new TokenRefused('audience');
    const jti = readTextClaim(claims, 'jti');
    const expiresAt = claims.exp * 1_000;
    if (jti === '' || expiresAt > clock.now() + MAX_LIFETIME_MS) throw new TokenRefused('malformed');
    const verified = readAssertedIdentity({ claims, settings, tenant, log });
    // Last: one that is refused for something else is not used up by whoever overheard it.
    const existing = await records.add(
      'IdJag',
      JSON.stringify([issuer, jti]),
      { at: clock.now() },
      { ttlMs: expiresAt - clock.now() + 2 * CLOCK_TOLERANCE_MS },
    );
    if (existing) throw new TokenRefused('replayed');
    return { verified, resource };
  }

  return {
    async accept(assertion, request) {
      try {
        return await verify(assertion, request);
      } catch (error) {
        if (!(error instanceof TokenRefused)) throw error;
        log('id_jag_refused', { reason: error.reason });
        return null;
      }
    },
  };
}

/** Absent, it is left to us. What the issuer narrowed to something else is not widened again. */
function allowsScope(claimed: unknown, scope: string): boolean {
  return claimed === undefined || (typeof claimed === 'string' && claimed.split(' ').includes(scope));
}

interface AssertedIdentityParts {
  readonly claims: VerifiedIdentityParts['claims'];
  /** How claims of the login's issuer are read. */
  readonly settings: OpenIdSettings;
  /** Of any other issuer: whose users it may speak of, by the word of the operator. Null: it is the login's. */
  readonly tenant: string | null;
  readonly log: Log;
}

/** Who somebody is by the word of an issuer, without a sign-in. Throws TokenRefused when it may not say so. */
function readAssertedIdentity({ claims, settings, tenant, log }: AssertedIdentityParts): VerifiedToken {
  const readIdentity = (openIdSettings: OpenIdSettings) => {
    const sources = { access: claims, id: claims, userinfo: claims };
    return readVerifiedIdentity({ kind: 'user', claims, sources, settings: openIdSettings, log });
  };
  if (tenant === null) {
    const verified = readIdentity(settings);
    // Most say nothing of roles: silence is no younger word than that of the sign-in.
    return hasRoleClaims(claims, settings) ? verified : { ...verified, issuedAt: 0 };
  }
  // Which claims decide over roles, groups and tenants was agreed with the login's issuer alone: from another they would be its own choice,
  // among everybody else's users. Who names a tenant means to choose it, and is not just left unread.
  const { tenantClaim, allowedTenants } = settings;
  if (tenantClaim !== null && readClaim(claims, tenantClaim) !== undefined) throw new TokenRefused('tenant');
  const verified = readIdentity({
    ...settings,
    ...{ tenantClaim: null, adminRole: null, groupsClaim: null },
    // Customers of one provider: another may have none.
    allowedTenants: claims['tid'] === undefined ? null : allowedTenants,
  });
  return { ...verified, tenant, roles: [], hasAdminRole: false, issuedAt: 0 };
}

/** Whether everything is there that a role follows from: by half of it, somebody would be less than they are. */
function hasRoleClaims(claims: Claims, { roleClaim, adminRole }: OpenIdSettings): boolean {
  const names = adminRole === null ? [roleClaim] : [roleClaim, adminRole.claim];
  return names.every((name) => (readClaim(claims, name) ?? null) !== null);
}
