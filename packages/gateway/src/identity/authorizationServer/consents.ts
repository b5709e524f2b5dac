import type { Clock } from '@behalf/kernel';
import type { AuthorizationServerRecords } from './authorizationServerRecords.ts';

/** Asked again after this time, whatever was said. */
const CONSENT_LIFETIME_MS = 180 * 24 * 60 * 60 * 1000;

/** To whom somebody said yes, and to what: one client, sent back to one host, for the endpoints that it named. */
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
  /** Each with the time of the yes. Those that were kept without any are asked again. */
  readonly agreed?: readonly (readonly [resource: string, at: number])[];
}
type ConsentUser = Pick<ConsentRequest, 'tenant' | 'userId'>;
type ConsentParty = Omit<ConsentRequest, 'resources'>;

/**
 * A yes counts for the very client and the host that were shown, and for nobody else: a second client must not ride on what was
 * said to the first (confused deputy). It counts for the endpoints that were shown: one server is not all of them.
 */
export interface Consents {
  hasConsent(request: ConsentRequest): Promise<boolean>;
  record(request: ConsentRequest, clientName: string): Promise<void>;
  list(user: ConsentUser): Promise<ConsentView[]>;
  /** Which one it was; null when there is none of this user. */
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

  /** What they said yes to, and not too long ago. */
  async function readAgreed(party: ConsentParty): Promise<Map<string, number>> {
    const { agreed = [] } = (await records.find<StoredConsent>('Consent', idOf(party)))?.payload ?? {};
    return new Map(agreed.filter(([, at]) => clock.now() - at < CONSENT_LIFETIME_MS));
  }

  return {
    async hasConsent(request) {
      const agreed = await readAgreed(request);
      return request.resources.length > 0 && request.resources.every((resource) => agreed.has(resource));
    },
    /** Two at once may lose one of them, which is asked again. */
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
