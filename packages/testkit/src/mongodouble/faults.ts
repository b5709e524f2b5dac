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
  none(): void;
}

/** The server's view of the switches. */
export interface FaultState extends Faults {
  readonly steppedDown: boolean;
  readonly cutOff: boolean;
  /** True when this write is to be refused; counts it. */
  refusesWrite(command: CommandName): boolean;
  /** What a command has to wait for, if anything. */
  held(command: CommandName): Promise<void> | null;
  /** True when the connection ends at this point; counts it. */
  drops(command: CommandName, when: 'before' | 'after'): boolean;
}

export function createFaults(onCutOff: () => void): FaultState {
  let steppedDown = false;
  let cutOff = false;
  let refusals = 0;
  const holds: {
    command: CommandName;
    arrive: () => void;
    released: Promise<void>;
    release: () => void;
    taken: boolean;
  }[] = [];
  let drops: { left: number; when: 'before' | 'after'; command: CommandName | null }[] = [];

  return {
    get steppedDown() {
      return steppedDown;
    },
    get cutOff() {
      return cutOff;
    },
    notWritablePrimary(state) {
      steppedDown = state === 'on';
      refusals = typeof state === 'number' ? state : 0;
    },
    dropConnections(count, options = {}) {
      drops.push({ left: count, when: options.when ?? 'before', command: options.command ?? null });
    },
    hold(command) {
      const arrival = createSignal();
      const end = createSignal();
      holds.push({ command, arrive: arrival.give, released: end.given, release: end.give, taken: false });
      return { arrived: arrival.given, release: end.give };
    },
    held(command) {
      const due = holds.find((hold) => hold.command === command && !hold.taken);
      if (!due) return null;
      due.taken = true;
      due.arrive();
      return due.released;
    },
    unreachable(state) {
      cutOff = state === 'on';
      if (cutOff) onCutOff();
    },
    none() {
      steppedDown = false;
      cutOff = false;
      refusals = 0;
      drops = [];
      for (const hold of holds.splice(0)) hold.release();
    },
    refusesWrite(command) {
      if (!(manifest.writes as readonly string[]).includes(command)) return false;
      if (steppedDown) return true;
      if (refusals === 0) return false;
      refusals -= 1;
      return true;
    },
    drops(command, when) {
      const due = drops.find(
        (drop) => drop.left > 0 && drop.when === when && (drop.command === null || drop.command === command),
      );
      if (!due || (manifest.housekeeping as readonly string[]).includes(command)) return false;
      due.left -= 1;
      return true;
    },
  };
}

function createSignal(): { given: Promise<void>; give: () => void } {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}
