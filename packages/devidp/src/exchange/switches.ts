import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@behalf/kernel';
import { collectBody } from '../listener.ts';
import { isRecord } from './claimsRequest.ts';

/** Faults that a test can switch on. */
export type FaultBehavior =
  /** Requires these claims, from the subject token or from a sign-in after the switch was set. */
  | { readonly kind: 'claims'; readonly claims: string }
  /** 429; without seconds, no `Retry-After`. */
  | { readonly kind: 'throttle'; readonly retryAfterSeconds?: number }
  /** Responds correctly after a delay. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Never responds. */
  | { readonly kind: 'hang' }
  /** Closes the connection. */
  | { readonly kind: 'close' }
  /** 500 `{}`. */
  | { readonly kind: 'fail' }
  /** 200 `{}`. */
  | { readonly kind: 'empty' }
  /** An empty token. */
  | { readonly kind: 'empty-token' }
  /** `token_type: N_A`. */
  | { readonly kind: 'not-bearer' }
  /** A valid token for another audience. */
  | { readonly kind: 'other-audience'; readonly audience: string }
  /** Closes every connection. The only switch that affects all endpoints. */
  | { readonly kind: 'down' };

export interface FaultOptions {
  /** Applies only to exchanges for this user. */
  readonly user?: string;
  /** The number of requests. Default: until it is switched off. */
  readonly times?: number;
}

export interface FaultSwitch {
  readonly behavior: FaultBehavior;
  readonly options: FaultOptions;
  remove(): void;
}

/** Faults on demand, for tests and demos. */
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
  /** Returns the first matching switch and counts its use. */
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

export const switchPath = '/dev/switches';

/** The parameters of each kind besides `user` and `times`; `?` marks optional ones. */
const switchFields: Record<FaultBehavior['kind'], Readonly<Record<string, 'text' | 'number' | 'number?'>>> = {
  claims: { claims: 'text' },
  throttle: { retryAfterSeconds: 'number?' },
  slow: { ms: 'number' },
  hang: {},
  close: {},
  fail: {},
  empty: {},
  'empty-token': {},
  'not-bearer': {},
  'other-audience': { audience: 'text' },
  down: {},
};

/** GET lists, POST sets one, DELETE clears. The content type prevents requests from web pages (CSRF). */
export async function handleSwitches(
  switches: FaultSwitches,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const reply = (status: number, body: object) =>
    res.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
  const toResponse = () => ({
    active: switches.active().map(({ behavior: behavior, options }) => ({ ...behavior, ...options })),
  });
  if (req.headers.origin !== undefined) return void reply(403, { error: 'not allowed from web pages' });
  if (req.method === 'DELETE') switches.clear();
  if (req.method === 'POST') {
    const type = req.headers['content-type'] ?? '';
    const body = type.startsWith('application/json') ? String(await collectBody(req, 10_000)) : '';
    const setting = parseSwitch(body);
    if (!setting) return void reply(400, { error: 'not a valid switch', kinds: switchFields });
    switches.set(setting.behavior, setting.options);
  }
  reply(200, toResponse());
}

/** Undefined if invalid. Unknown members are rejected. */
function parseSwitch(text: string): { behavior: FaultBehavior; options: FaultOptions } | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(body)) return undefined;
  const { kind, user, times, ...rest } = body;
  if (typeof kind !== 'string' || !Object.hasOwn(switchFields, kind)) return undefined;
  const fields = switchFields[kind as FaultBehavior['kind']];
  const hasValidFields = Object.entries(fields).every(([name, type]) => {
    if (type === 'number?' && rest[name] === undefined) return true;
    return typeof rest[name] === (type === 'text' ? 'string' : 'number');
  });
  if (!hasValidFields || Object.keys(rest).some((name) => !Object.hasOwn(fields, name))) return undefined;
  if (user !== undefined && typeof user !== 'string') return undefined;
  if (times !== undefined && !(Number.isInteger(times) && Number(times) > 0)) return undefined;
  const options = {
    ...(user !== undefined && { user }),
    ...(times !== undefined && { times: Number(times) }),
  };
  return { behavior: { kind, ...rest } as FaultBehavior, options };
}
