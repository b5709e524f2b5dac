import { randomUUID } from 'node:crypto';
import type { Clock } from '@behalf/kernel';
import { TokenRefusal } from './refusal.ts';

interface AadstsEntry {
  readonly status: number;
  readonly error: string;
  readonly suberror?: string;
}

const createEntry = (error: string, overrides: Partial<AadstsEntry> = {}): AadstsEntry => ({
  status: 400,
  error,
  ...overrides,
});

/** Entra's own numbers for what goes wrong at its token endpoint, with the OAuth error each comes with. */
const aadstsEntries = {
  28000: createEntry('invalid_scope'),
  50013: createEntry('invalid_grant'),
  50034: createEntry('invalid_grant'),
  50076: createEntry('interaction_required', { suberror: 'basic_action' }),
  65001: createEntry('invalid_grant', { suberror: 'consent_required' }),
  70003: createEntry('unsupported_grant_type'),
  70011: createEntry('invalid_scope'),
  90002: createEntry('invalid_request'),
  90055: createEntry('temporarily_unavailable', { status: 429 }),
  240002: createEntry('invalid_grant'),
  500011: createEntry('invalid_resource'),
  500133: createEntry('invalid_grant'),
  650053: createEntry('invalid_scope'),
  700016: createEntry('unauthorized_client'),
  700024: createEntry('invalid_client', { status: 401 }),
  700027: createEntry('invalid_client', { status: 401 }),
  700211: createEntry('invalid_client', { status: 401 }),
  900144: createEntry('invalid_request'),
  7000114: createEntry('invalid_grant'),
  7000215: createEntry('invalid_client', { status: 401 }),
  7000218: createEntry('invalid_client', { status: 401 }),
} as const satisfies Record<number, AadstsEntry>;

export type AadstsCode = keyof typeof aadstsEntries;

export interface AadstsDetail {
  readonly claims?: string;
  readonly retryAfterSeconds?: number | undefined;
}

/** An error as Entra words it: the number in front, and behind it what its support asks for. */
export function createAadstsRefusal(
  clock: Clock,
  code: AadstsCode,
  text: string,
  detail: AadstsDetail = {},
): TokenRefusal {
  const { status, error, suberror }: AadstsEntry = aadstsEntries[code];
  const { claims, retryAfterSeconds } = detail;
  const [trace, correlation] = [randomUUID(), randomUUID()];
  const timestamp = `${new Date(clock.now()).toISOString().slice(0, 19).replace('T', ' ')}Z`;
  return new TokenRefusal(
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
