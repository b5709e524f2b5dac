import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AuditExportQuery, AuditQuery, type AuditVerifyView } from '@behalf/contracts';
import {
  type AuditLog,
  type AuditReadParts,
  type AuditReport,
  exportAudit,
  queryAudit,
  verifyAudit,
} from '@behalf/gateway';
import type { AuditStore } from '@behalf/gateway/ports';
import { type Keyring, abortReason, createSingleFlight } from '@behalf/kernel';
import { requireOperator } from '../../http/authentication.ts';
import { callerDisconnect, createDisconnectSignal, parseBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';

const DEFAULT_LIMIT = 100;

interface AuditRouteParts {
  readonly store: AuditStore;
  readonly keyring: Keyring;
  /** The one of this process. */
  readonly auditLog: Pick<AuditLog, 'stats'>;
}

/** Administrators read the events of their own tenant, and no others. */
export function auditRoutes({ store, keyring, auditLog }: AuditRouteParts): Route[] {
  const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve));
  /** Ends with the next page when the caller has left: what fits nothing writes nothing, and would read on. */
  const createReader = (res: ServerResponse): AuditReadParts => {
    const disconnected = callerDisconnect(res);
    return {
      store,
      async yieldToEventLoop() {
        await yieldToEventLoop();
        if (disconnected.aborted) throw abortReason(disconnected);
      },
    };
  };
  // It reads everything there is: once at a time, however many ask.
  const verifyFlight = createSingleFlight<AuditReport>();

  return [
    {
      method: 'get',
      path: '/api/admin/audit',
      access: 'admin',
      scope: 'admin',
      async handle(req, res, { tenant }) {
        const { limit = DEFAULT_LIMIT, cursor, ...filters } = parseBody(req.query, AuditQuery);
        res.json(await queryAudit(createReader(res), { tenant, filters, limit, cursor }));
      },
    },
    {
      method: 'get',
      path: '/api/admin/audit/export',
      access: 'admin',
      scope: 'admin',
      async handle(req, res, { tenant }) {
        const filters = parseBody(req.query, AuditExportQuery);
        const chunks = exportAudit(createReader(res), { tenant, filters });
        // Until the first piece is there, an error still has a status.
        const first = await chunks.next();
        res.set('Content-Type', 'application/x-ndjson; charset=utf-8');
        res.set('Content-Disposition', 'attachment; filename="audit.jsonl"');
        // A failure from here on cuts the connection: what is not all must not look as if it were.
        await pipeline(Readable.from(withFirst(first, chunks)), res);
      },
    },
    {
      method: 'get',
      path: '/api/admin/audit/verify',
      access: 'admin',
      scope: 'admin',
      async handle(_req, res, caller) {
        // The chains are everybody's.
        requireOperator(caller);
        const report: AuditVerifyView = await verifyFlight.run(
          [],
          (signal) =>
            verifyAudit({
              store,
              yieldToEventLoop: yieldToEventLoop,
              keyring,
              liveWriter: auditLog.stats(),
              signal,
            }),
          { signal: createDisconnectSignal(res) },
        );
        res.json(report);
      },
    },
  ];
}

async function* withFirst<T>(first: IteratorResult<T, void>, remaining: AsyncGenerator<T, void, void>) {
  if (first.done !== true) yield first.value;
  yield* remaining;
}
