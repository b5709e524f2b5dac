import type { Clock } from '@behalf/kernel';

/** What a provider can be made to do instead of answering as it should. */
export type FaultBehavior =
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

export interface FaultOptions {
  /** Only exchanges for this user. */
  readonly user?: string;
  /** How many requests; until it is switched off if absent. */
  readonly times?: number;
}

export interface FaultSwitch {
  readonly behavior: FaultBehavior;
  readonly options: FaultOptions;
  remove(): void;
}

/** Behaviour on command. For tests and demos. */
export interface FaultSwitches {
  set(behavior: FaultBehavior, options?: FaultOptions): FaultSwitch;
  active(): readonly FaultSwitch[];
  clear(): void;
}

interface FaultSetting extends FaultSwitch {
  readonly since: number;
  remaining: number;
}

export interface FaultSwitchBoard extends FaultSwitches {
  /** Takes the first that applies and counts it. */
  consume<K extends FaultBehavior['kind']>(
    kinds: readonly K[],
    user: string | undefined,
    applies?: (behavior: Extract<FaultBehavior, { kind: K }>, since: number) => boolean,
  ): Extract<FaultBehavior, { kind: K }> | undefined;
}

export function createFaultSwitchBoard(clock: Clock): FaultSwitchBoard {
  const settings = new Set<FaultSetting>();

  return {
    set(behavior, options = {}) {
      const setting: FaultSetting = {
        ...{ behavior, options, since: clock.now(), remaining: options.times ?? Infinity },
        remove: () => void settings.delete(setting),
      };
      settings.add(setting);
      return setting;
    },
    active: () => [...settings],
    clear: () => settings.clear(),
    consume(kinds, user, applies = () => true) {
      for (const setting of settings) {
        const { behavior, options, since } = setting;
        if (options.user !== undefined && options.user !== user) continue;
        if (!isOneOf(behavior, kinds) || !applies(behavior, since)) continue;
        setting.remaining -= 1;
        if (setting.remaining <= 0) settings.delete(setting);
        return behavior;
      }
      return undefined;
    },
  };
}

function isOneOf<K extends FaultBehavior['kind']>(
  behavior: FaultBehavior,
  kinds: readonly K[],
): behavior is Extract<FaultBehavior, { kind: K }> {
  return (kinds as readonly string[]).includes(behavior.kind);
}
