import { manifest, type CommandName } from './manifest.ts';

export interface DropOptions {
  /** `before`: the command does not run. `after`: it runs, and its reply is lost. Default `before`. */
  when?: 'before' | 'after';
  /** Only this command. Default: all that access data. */
  command?: CommandName;
}

export interface HeldCommand {
  /** Resolves when the command has arrived. */
  readonly arrived: Promise<void>;
  /** Lets the command run. */
  release(): void;
}

/** Faults that a test can switch on. */
export interface Faults {
  /**
   * On: the primary stepped down; hello reports it, writes fail with 10107 and reads with 13435. A number: only the
   * next n writes fail.
   */
  notWritablePrimary(state: 'on' | 'off' | number): void;
  /** Closes the connection instead of replying to the next n commands. */
  dropConnections(count: number, options?: DropOptions): void;
  /** Holds the next such command, so that another one can run first. */
  hold(command: CommandName): HeldCommand;
  /** On: closes all connections and accepts no new ones. */
  unreachable(state: 'on' | 'off'): void;
  /** Switches all faults off. */
  reset(): void;
}

/** The switches as the server uses them. */
interface FaultState extends Faults {
  readonly isSteppedDown: boolean;
  readonly isUnreachable: boolean;
  /** Whether this write must be rejected. Counts it. */
  shouldRefuseWrite(command: CommandName): boolean;
  /** The promise that a held command waits for. */
  findHold(command: CommandName): Promise<void> | null;
  /** Whether the connection must be closed now. Counts it. */
  shouldDrop(command: CommandName, when: 'before' | 'after'): boolean;
}

export function createFaults(onCutOff: () => void): FaultState {
  let isSteppedDown = false;
  let isUnreachable = false;
  let remainingRefusals = 0;
  const holds: {
    command: CommandName;
    arrive: () => void;
    released: Promise<void>;
    release: () => void;
    isTaken: boolean;
  }[] = [];
  let drops: { remaining: number; when: 'before' | 'after'; command: CommandName | null }[] = [];

  return {
    get isSteppedDown() {
      return isSteppedDown;
    },
    get isUnreachable() {
      return isUnreachable;
    },
    notWritablePrimary(state) {
      isSteppedDown = state === 'on';
      remainingRefusals = typeof state === 'number' ? state : 0;
    },
    dropConnections(count, options = {}) {
      drops.push({ remaining: count, when: options.when ?? 'before', command: options.command ?? null });
    },
    hold(command) {
      const arrivalSignal = createSignal();
      const releaseSignal = createSignal();
      holds.push({
        command,
        arrive: arrivalSignal.resolve,
        released: releaseSignal.promise,
        release: releaseSignal.resolve,
        isTaken: false,
      });
      return { arrived: arrivalSignal.promise, release: releaseSignal.resolve };
    },
    findHold(command) {
      const match = holds.find((hold) => hold.command === command && !hold.isTaken);
      if (!match) return null;
      match.isTaken = true;
      match.arrive();
      return match.released;
    },
    unreachable(state) {
      isUnreachable = state === 'on';
      if (isUnreachable) onCutOff();
    },
    reset() {
      isSteppedDown = false;
      isUnreachable = false;
      remainingRefusals = 0;
      drops = [];
      for (const hold of holds.splice(0)) hold.release();
    },
    shouldRefuseWrite(command) {
      if (!(manifest.writes as readonly string[]).includes(command)) return false;
      if (isSteppedDown) return true;
      if (remainingRefusals === 0) return false;
      remainingRefusals -= 1;
      return true;
    },
    shouldDrop(command, when) {
      const match = drops.find(
        (drop) =>
          drop.remaining > 0 && drop.when === when && (drop.command === null || drop.command === command),
      );
      if (!match || (manifest.housekeeping as readonly string[]).includes(command)) return false;
      match.remaining -= 1;
      return true;
    },
  };
}

function createSignal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve: () => resolve() };
}
