import { manifest, type CommandName } from './manifest.ts';

export interface DropOptions {
  /** `before`: the command never runs. `after`: it runs, and its answer is lost. Default `before`. */
  when?: 'before' | 'after';
  /** Only this command counts; by default all that touch data. */
  command?: CommandName;
}

export interface HeldCommand {
  /** Resolves when the command has arrived. */
  readonly arrived: Promise<void>;
  /** Lets it run. */
  release(): void;
}

/** What goes wrong, by switch. */
export interface Faults {
  /** On: stepped down; hello says so, writes get 10107 and reads 13435. A number: only the next n writes get 10107. */
  notWritablePrimary(state: 'on' | 'off' | number): void;
  /** The next n commands end with their connection instead of an answer. */
  dropConnections(count: number, options?: DropOptions): void;
  /** Stops the next such command at the door, so that a test can let another overtake it. */
  hold(command: CommandName): HeldCommand;
  /** On: every connection is cut and no new one is answered. */
  unreachable(state: 'on' | 'off'): void;
  /** Everything works again. */
  reset(): void;
}

/** The server's view of the switches. */
interface FaultState extends Faults {
  readonly isSteppedDown: boolean;
  readonly isUnreachable: boolean;
  /** True when this write is to be refused; counts it. */
  shouldRefuseWrite(command: CommandName): boolean;
  /** What a command has to wait for, if anything. */
  findHold(command: CommandName): Promise<void> | null;
  /** True when the connection ends at this point; counts it. */
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
