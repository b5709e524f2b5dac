import type { Clock } from '@behalf/kernel';
import { createLocalJWKSet, jwtVerify, type JWTPayload } from 'jose';
import type { IssuerKeySource } from '../sample/tokenGuard.ts';

export interface AssertionParts {
  /** Whose assertions are taken. */
  idp: IssuerKeySource;
  /** What they must be for. */
  issuer: string;
  clock: Clock;
}

/** An identity assertion that holds. */
export interface ProvenAssertion {
  readonly subject: string;
  readonly resource: string;
  readonly scope: string;
}

/** Identity assertions (ID-JAG), each good once. */
export function createAssertionVerifier({ idp, issuer, clock }: AssertionParts) {
  /** `jti` of those that were used, until they are over. */
  const usedIds = new Map<string, number>();

  function isUsed({ jti = '', exp = 0 }: JWTPayload): boolean {
    const now = clock.now() / 1000;
    for (const [id, expiresAt] of usedIds) if (expiresAt < now) usedIds.delete(id);
    if (jti === '' || usedIds.has(jti)) return true;
    usedIds.set(jti, exp);
    return false;
  }

  /** Undefined: it does not hold, is for somebody else, or was used. */
  return async (assertion: string, clientId: string): Promise<ProvenAssertion | undefined> => {
    try {
      const { payload } = await jwtVerify(assertion, createLocalJWKSet(idp.getPublicKeys()), {
        ...{ typ: 'oauth-id-jag+jwt', audience: issuer, issuer: [...idp.issuers], algorithms: ['RS256'] },
        requiredClaims: ['sub', 'exp', 'jti', 'client_id', 'resource'],
        currentDate: new Date(clock.now()),
      });
      if (payload.client_id !== clientId || typeof payload.resource !== 'string' || isUsed(payload)) {
        return undefined;
      }
      return { subject: payload.sub ?? '', resource: payload.resource, scope: text(payload.scope) };
    } catch {
      return undefined;
    }
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
