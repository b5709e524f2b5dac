import { unlessAborted, type Cancellation } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';
import type { Closings } from './closings.ts';
import type { Connection } from './connection.ts';
import type { Opening } from './opening.ts';
import type { Openings } from './openings.ts';

export interface Adopted {
  readonly connection: Connection;
  /** `here`: the slot keeps it. `elsewhere`: somebody else does. `nowhere`: it is for those who waited, and closed. */
  readonly kept: 'here' | 'elsewhere' | 'nowhere';
}

/** How one caller would open the connection. */
export interface SlotWork {
  /** Runs before anything is opened; throws when there is no room. */
  begin?(): void;
  open(signal: AbortSignal): Promise<Upstream>;
  adopt(upstream: Upstream, onRetired: (connection: Connection) => void): Adopted;
  ended?(): void;
}

/** The place of one connection: what is there, what is being opened, and who waits to replace it. */
export interface Slot {
  readonly connection: Connection | undefined;
  readonly opening: boolean;
  /** Resolves with a connection that counts this caller among its borrowers. */
  lease(work: SlotWork, signal: Cancellation, forceNew: boolean): Promise<Connection>;
  /** Resolves when the opening under way has ended. */
  settled(): Promise<void>;
  /** Gives up the place: borrowers and those who wait are served, then everything closes. */
  retire(): Promise<void>;
}

export interface SlotParts {
  readonly openings: Openings;
  readonly closings: Closings;
  /** Nothing is here, nothing will come. */
  readonly onEmpty: () => void;
}

export function createSlot({ openings, closings, onEmpty }: SlotParts): Slot {
  let connection: Connection | undefined;
  let opening: Opening | undefined;
  let retired = false;
  /** Who will replace what is here. */
  let queued = 0;

  const tellIfEmpty = () => {
    if (!connection && !opening && queued === 0) onEmpty();
  };
  const onRetired = (gone: Connection) => {
    if (connection !== gone) return;
    connection = undefined;
    tellIfEmpty();
  };

  function begin(work: SlotWork): Opening {
    try {
      work.begin?.();
    } catch (error) {
      tellIfEmpty();
      throw error;
    }
    let kept: Adopted['kept'] = 'here';
    opening = openings.start({
      open: (signal) => work.open(signal),
      adopt(upstream) {
        const adopted = work.adopt(upstream, onRetired);
        kept = adopted.kept;
        return adopted.connection;
      },
      handedOut(fresh) {
        if (kept === 'nowhere' || (kept === 'here' && retired)) return void fresh.retire();
        // Made for one request, and all who asked for it have left.
        if (fresh.once && fresh.borrowers === 0) return void fresh.retire();
        const previous = connection;
        // It may have ended at once; then it is not there to be found.
        connection = kept === 'here' && !fresh.retired ? fresh : undefined;
        void previous?.retire();
      },
      discard: (upstream) => void closings.close(upstream),
      ended() {
        opening = undefined;
        work.ended?.();
        tellIfEmpty();
      },
    });
    return opening;
  }

  /**
   * One at a time, and never beside an ordinary opening. All wait for the same opening and wake in the order in which
   * they came: the first begins, the others wait again. So the last word is the last asker's.
   */
  async function replace(work: SlotWork, signal: Cancellation): Promise<Connection> {
    queued += 1;
    try {
      while (opening) await unlessAborted(opening.settled, signal);
      return await begin(work).join(signal);
    } finally {
      queued -= 1;
      tellIfEmpty();
    }
  }

  return {
    get connection() {
      return connection;
    },
    get opening() {
      return opening !== undefined;
    },
    lease(work, signal, forceNew) {
      if (forceNew) return replace(work, signal);
      if (connection) {
        connection.borrow();
        return Promise.resolve(connection);
      }
      return (opening ?? begin(work)).join(signal);
    },
    settled: () => opening?.settled ?? Promise.resolve(),
    retire() {
      retired = true;
      opening?.abandon();
      return connection?.retire() ?? Promise.resolve();
    },
  };
}
