import { randomUUID } from 'node:crypto';
import type { Clock } from '@behalf/kernel';
import { Refusal } from './refusal.ts';

interface Entry {
  readonly status: number;
  readonly error: string;
  readonly suberror?: string;
}

const entry = (error: string, more: Partial<Entry> = {}): Entry => ({ status: 400, error, ...more });

/** Entra's own numbers for what goes wrong at its token endpoint, with the OAuth error each comes with. */
const codes = {
  28000: entry('invalid_scope'),
  50013: entry('invalid_grant'),
  50034: entry('invalid_grant'),
  50076: entry('interaction_required', { suberror: 'basic_action' }),
  65001: entry('invalid_grant', { suberror: 'consent_required' }),
  70003: entry('unsupported_grant_type'),
  70011: entry('invalid_scope'),
  90002: entry('invalid_request'),
  90055: entry('temporarily_unavailable', { status: 429 }),
  240002: entry('invalid_grant'),
  500011: entry('invalid_resource'),
  500133: entry('invalid_grant'),
  650053: entry('invalid_scope'),
  700016: entry('unauthorized_client'),
  700024: entry('invalid_client', { status: 401 }),
  700027: entry('invalid_client', { status: 401 }),
  700211: entry('invalid_client', { status: 401 }),
  900144: entry('invalid_request'),
  7000114: entry('invalid_grant'),
  7000215: entry('invalid_client', { status: 401 }),
  7000218: entry('invalid_client', { status: 401 }),
} as const satisfies Record<number, Entry>;

export type AadstsCode = keyof typeof codes;

export interface AadstsDetail {
  readonly claims?: string;
  readonly retryAfterSeconds?: number | undefined;
}

/** An error as Entra words it: the number in front, and behind it what its support asks for. */
export function aadsts(clock: Clock, code: AadstsCode, text: string, detail: AadstsDetail = {}): Refusal {
  const { status, error, suberror }: Entry = codes[code];
  const { claims, retryAfterSeconds } = detail;
  const [trace, correlation] = [randomUUID(), randomUUID()];
  const timestamp = `${new Date(clock.now()).toISOString().slice(0, 19).replace('T', ' ')}Z`;
  return new Refusal(
    status,
    {
      error,
      error_description: `AADSTS${code}: ${text} Trace ID: ${trace} Correlation ID: ${correlation} Timestamp: ${timestamp}`,
      error_codes: [code],
      timestamp,
      trace_id: trace,
      correlation_id: correlation,
      ...(suberror !== undefined && { suberror }),
      ...(claims !== undefined && { claims }),
    },
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  );
}
