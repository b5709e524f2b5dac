import type { IncomingMessage, ServerResponse } from 'node:http';
import { collectBody } from '../collectBody.ts';
import { isRecord } from './claimsRequest.ts';
import type { FaultBehavior, FaultOptions, FaultSwitches } from './switches.ts';

export const switchPath = '/dev/switches';

/** What each kind takes beside `user` and `times`; with `?` it may be absent. */
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

/** GET lists, POST sets one, DELETE clears. From programs of this machine: a page's script cannot send this type. */
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

/** Undefined: not a switch. An unknown member is a misunderstanding, not something to pass over. */
export function parseSwitch(text: string): { behavior: FaultBehavior; options: FaultOptions } | undefined {
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
