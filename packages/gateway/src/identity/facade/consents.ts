import type { Clock } from '@behalf/kernel';
import type { FacadeRecords } from './facadeRecords.ts';

/** Asked again after this time, whatever was said. */
const KEPT_MS = 180 * 24 * 60 * 60 * 1000;

/** To whom somebody said yes, and to what: one client, sent back to one host, for the endpoints that it named. */
export interface Consented {
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

interface Kept extends Omit<ConsentView, 'id'> {
  /** Each with the time of the yes. Those that were kept without any are asked again. */
  readonly agreed?: readonly (readonly [resource: string, at: number])[];
}
type Holder = Pick<Consented, 'tenant' | 'userId'>;
type Party = Omit<Consented, 'resources'>;

/**
 * A yes counts for the very client and the host that were shown, and for nobody else: a second client must not ride on what was
 * said to the first (confused deputy). It counts for the endpoints that were shown: one server is not all of them.
 */
export interface Consents {
  has(of: Consented): Promise<boolean>;
  remember(of: Consented, clientName: string): Promise<void>;
  list(of: Holder): Promise<ConsentView[]>;
  /** Which one it was; null when there is none of this user. */
  forget(of: Holder, id: string): Promise<ConsentView | null>;
}

export function createConsents(parts: {
  readonly records: Pick<FacadeRecords, 'put' | 'find' | 'list' | 'remove'>;
  readonly clock: Clock;
}): Consents {
  const { records, clock } = parts;
  const idOf = ({ tenant, userId, clientId, redirectHost }: Party) =>
    JSON.stringify([tenant, userId, clientId, redirectHost]);
  const familyOf = ({ tenant, userId }: Holder) => JSON.stringify([tenant, userId]);

  async function list(of: Holder): Promise<ConsentView[]> {
    const kept = await records.list<Kept>('Consent', familyOf(of));
    return kept.map(({ payload: { agreed: _agreed, ...shown }, name }) => ({ id: name, ...shown }));
  }

  /** What they said yes to, and not too long ago. */
  async function agreedOf(of: Party): Promise<Map<string, number>> {
    const { agreed = [] } = (await records.find<Kept>('Consent', idOf(of)))?.payload ?? {};
    return new Map(agreed.filter(([, at]) => clock.now() - at < KEPT_MS));
  }

  return {
    async has(of) {
      const agreed = await agreedOf(of);
      return of.resources.length > 0 && of.resources.every((resource) => agreed.has(resource));
    },
    /** Two at once may lose one of them, which is asked again. */
    async remember(of, clientName) {
      const { clientId, redirectHost } = of;
      const createdAt = clock.now();
      const agreed = await agreedOf(of);
      for (const resource of of.resources) agreed.set(resource, createdAt);
      const kept: Kept = { clientId, clientName, redirectHost, createdAt, agreed: [...agreed] };
      await records.put('Consent', idOf(of), kept, { ttlMs: KEPT_MS, family: familyOf(of) });
    },
    list,
    async forget(of, id) {
      const found = (await list(of)).find((consent) => consent.id === id);
      if (!found) return null;
      await records.remove('Consent', idOf({ ...of, ...found }));
      return found;
    },
  };
}
