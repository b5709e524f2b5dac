import type { Clock } from '@behalf/kernel';

/** What a provider can be made to do instead of answering as it should. */
export type Behaviour =
  /** This must be proven: by what the subject says, or by a sign-in after the switch was set. */
  | { readonly kind: 'claims'; readonly claims: string }
  /** 429; without seconds, without `Retry-After`. */
  | { readonly kind: 'throttle'; readonly retryAfterSeconds?: number }
  /** Answers as it should, but later. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Closes the connection. */
  | { readonly kind: 'close' }
  /** 500 `{}`. */
  | { readonly kind: 'fail' }
  /** 200 `{}`. */
  | { readonly kind: 'empty' }
  /** A token of no characters. */
  | { readonly kind: 'empty-token' }
  /** `token_type: N_A`. */
  | { readonly kind: 'not-bearer' }
  /** A genuine token, for somebody else. */
  | { readonly kind: 'other-audience'; readonly audience: string }
  /** Every connection is closed, whatever is asked. The only one that concerns more than exchanges. */
  | { readonly kind: 'down' };

export interface SwitchChoice {
  /** Only exchanges for this user. */
  readonly user?: string;
  /** How many requests; until it is switched off if absent. */
  readonly times?: number;
}

export interface Switch {
  readonly behaviour: Behaviour;
  readonly choice: SwitchChoice;
  off(): void;
}

/** Behaviour on command. For tests and demos. */
export interface Switches {
  set(behaviour: Behaviour, choice?: SwitchChoice): Switch;
  active(): readonly Switch[];
  clear(): void;
}

interface Setting extends Switch {
  readonly since: number;
  left: number;
}

export interface SwitchBoard extends Switches {
  /** Takes the first that applies and counts it. */
  take<K extends Behaviour['kind']>(
    kinds: readonly K[],
    user: string | undefined,
    applies?: (behaviour: Extract<Behaviour, { kind: K }>, since: number) => boolean,
  ): Extract<Behaviour, { kind: K }> | undefined;
}

export function createSwitchBoard(clock: Clock): SwitchBoard {
  const settings = new Set<Setting>();

  return {
    set(behaviour, choice = {}) {
      const setting: Setting = {
        ...{ behaviour, choice, since: clock.now(), left: choice.times ?? Infinity },
        off: () => void settings.delete(setting),
      };
      settings.add(setting);
      return setting;
    },
    active: () => [...settings],
    clear: () => settings.clear(),
    take(kinds, user, applies = () => true) {
      for (const setting of settings) {
        const { behaviour, choice, since } = setting;
        if (choice.user !== undefined && choice.user !== user) continue;
        if (!isOneOf(behaviour, kinds) || !applies(behaviour, since)) continue;
        setting.left -= 1;
        if (setting.left <= 0) settings.delete(setting);
        return behaviour;
      }
      return undefined;
    },
  };
}

function isOneOf<K extends Behaviour['kind']>(
  behaviour: Behaviour,
  kinds: readonly K[],
): behaviour is Extract<Behaviour, { kind: K }> {
  return (kinds as readonly string[]).includes(behaviour.kind);
}
