import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '../body.ts';
import { isRecord } from './demandedClaims.ts';
import type { Behaviour, SwitchChoice, Switches } from './switches.ts';

export const switchPath = '/dev/switches';

/** What each kind takes beside `user` and `times`; with `?` it may be absent. */
const shapes: Record<Behaviour['kind'], Readonly<Record<string, 'text' | 'number' | 'number?'>>> = {
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

/** GET lists, POST sets one, DELETE clears. From programs of this machine: a page's script cannot send this type. */
export async function handleSwitches(
  switches: Switches,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const reply = (status: number, body: object) =>
    res.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
  const active = () => ({
    active: switches.active().map(({ behaviour, choice }) => ({ ...behaviour, ...choice })),
  });
  if (req.headers.origin !== undefined) return void reply(403, { error: 'not for pages' });
  if (req.method === 'DELETE') switches.clear();
  if (req.method === 'POST') {
    const type = req.headers['content-type'] ?? '';
    const body = type.startsWith('application/json') ? String(await readBody(req, 10_000)) : '';
    const wish = readSwitch(body);
    if (!wish) return void reply(400, { error: 'not a switch', kinds: shapes });
    switches.set(wish.behaviour, wish.choice);
  }
  reply(200, active());
}

/** Undefined: not a switch. An unknown member is a misunderstanding, not something to pass over. */
export function readSwitch(text: string): { behaviour: Behaviour; choice: SwitchChoice } | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(body)) return undefined;
  const { kind, user, times, ...rest } = body;
  if (typeof kind !== 'string' || !Object.hasOwn(shapes, kind)) return undefined;
  const shape = shapes[kind as Behaviour['kind']];
  const fits = Object.entries(shape).every(([name, type]) => {
    if (type === 'number?' && rest[name] === undefined) return true;
    return typeof rest[name] === (type === 'text' ? 'string' : 'number');
  });
  if (!fits || Object.keys(rest).some((name) => !Object.hasOwn(shape, name))) return undefined;
  if (user !== undefined && typeof user !== 'string') return undefined;
  if (times !== undefined && !(Number.isInteger(times) && Number(times) > 0)) return undefined;
  const choice = {
    ...(user !== undefined && { user }),
    ...(times !== undefined && { times: Number(times) }),
  };
  return { behaviour: { kind, ...rest } as Behaviour, choice };
}
