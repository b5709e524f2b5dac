import type { Clock } from '@behalf/kernel';
import type { FacadeRecords } from './facadeRecords.ts';

/** Asked again after this time, whatever was said. */
const KEPT_MS = 180 * 24 * 60 * 60 * 1000;

/** To whom somebody said yes: one client, sent back to one host. */
export interface Consented {
  readonly tenant: string;
  readonly userId: string;
  readonly clientId: string;
  readonly redirectHost: string;
}

export interface ConsentView {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectHost: string;
  readonly createdAt: number;
}

type Kept = Omit<ConsentView, 'id'>;
type Holder = Pick<Consented, 'tenant' | 'userId'>;

/**
 * A yes counts for the very client and the host that were shown, and for nobody else: a second client must not ride on what was
 * said to the first (confused deputy).
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
  const idOf = ({ tenant, userId, clientId, redirectHost }: Consented) =>
    JSON.stringify([tenant, userId, clientId, redirectHost]);
  const familyOf = ({ tenant, userId }: Holder) => JSON.stringify([tenant, userId]);

  async function list(of: Holder): Promise<ConsentView[]> {
    const kept = await records.list<Kept>('Consent', familyOf(of));
    return kept.map(({ payload, name }) => ({ id: name, ...payload }));
  }

  return {
    has: async (of) => (await records.find('Consent', idOf(of))) !== null,
    async remember(of, clientName) {
      const { clientId, redirectHost } = of;
      const kept: Kept = { clientId, clientName, redirectHost, createdAt: clock.now() };
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
