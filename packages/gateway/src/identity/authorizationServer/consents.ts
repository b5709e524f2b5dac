import type { Clock } from '@behalf/kernel';
import type { AuthorizationServerRecords } from './authorizationServerRecords.ts';

/** The consent page is shown again after this time. */
const CONSENT_LIFETIME_MS = 180 * 24 * 60 * 60 * 1000;

/** The user, the client, the host of its redirect URI, and the requested endpoints. */
interface ConsentRequest {
  readonly tenant: string;
  readonly userId: string;
  readonly clientId: string;
  readonly redirectHost: string;
  readonly resources: readonly string[];
}

export interface ConsentView {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectHost: string;
  readonly createdAt: number;
}

interface StoredConsent extends Omit<ConsentView, 'id'> {
  /** The endpoints with the time of consent. Absent in records of earlier releases: the user must consent again. */
  readonly agreed?: readonly (readonly [resource: string, at: number])[];
}
type ConsentUser = Pick<ConsentRequest, 'tenant' | 'userId'>;
type ConsentParty = Omit<ConsentRequest, 'resources'>;

/**
 * Consents of users to OAuth clients. A consent covers only the client, the redirect host and the endpoints that the page
 * showed. Another client must not benefit from it (confused deputy problem, MCP security best practices).
 */
export interface Consents {
  hasConsent(request: ConsentRequest): Promise<boolean>;
  record(request: ConsentRequest, clientName: string): Promise<void>;
  list(user: ConsentUser): Promise<ConsentView[]>;
  /** Null if this user has no consent with this id. */
  remove(user: ConsentUser, id: string): Promise<ConsentView | null>;
}

export function createConsents(parts: {
  readonly records: Pick<AuthorizationServerRecords, 'put' | 'find' | 'list' | 'remove'>;
  readonly clock: Clock;
}): Consents {
  const { records, clock } = parts;
  const idOf = ({ tenant, userId, clientId, redirectHost }: ConsentParty) =>
    JSON.stringify([tenant, userId, clientId, redirectHost]);
  const familyOf = ({ tenant, userId }: ConsentUser) => JSON.stringify([tenant, userId]);

  async function list(user: ConsentUser): Promise<ConsentView[]> {
    const stored = await records.list<StoredConsent>('Consent', familyOf(user));
    return stored.map(({ payload: { agreed: _agreed, ...view }, idHash }) => ({ id: idHash, ...view }));
  }

  /** The endpoints with a consent that has not expired. */
  async function readAgreed(party: ConsentParty): Promise<Map<string, number>> {
    const { agreed = [] } = (await records.find<StoredConsent>('Consent', idOf(party)))?.payload ?? {};
    return new Map(agreed.filter(([, at]) => clock.now() - at < CONSENT_LIFETIME_MS));
  }

  return {
    async hasConsent(request) {
      const agreed = await readAgreed(request);
      return request.resources.length > 0 && request.resources.every((resource) => agreed.has(resource));
    },
    // Concurrent calls may lose one of the consents. The user is then asked again.
    async record(request, clientName) {
      const { clientId, redirectHost } = request;
      const createdAt = clock.now();
      const agreed = await readAgreed(request);
      for (const resource of request.resources) agreed.set(resource, createdAt);
      const stored: StoredConsent = { clientId, clientName, redirectHost, createdAt, agreed: [...agreed] };
      await records.put('Consent', idOf(request), stored, {
        ttlMs: CONSENT_LIFETIME_MS,
        family: familyOf(request),
      });
    },
    list,
    async remove(user, id) {
      const found = (await list(user)).find((consent) => consent.id === id);
      if (!found) return null;
      await records.remove('Consent', idOf({ ...user, ...found }));
      return found;
    },
  };
}
