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
import { type Route, adminRoute } from '../../http/route.ts';

const DEFAULT_LIMIT = 100;

interface AuditRouteParts {
  readonly store: AuditStore;
  readonly keyring: Keyring;
  /** The audit log that this process writes. */
  readonly auditLog: Pick<AuditLog, 'stats'>;
}

/** Administrators read only their tenant's events. */
export function auditRoutes({ store, keyring, auditLog }: AuditRouteParts): Route[] {
  const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve));
  /** Stops reading after a page if the client disconnected. A filter without matches would otherwise scan the whole log. */
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
  // Verification reads the whole log, so concurrent requests share one run.
  const verifyFlight = createSingleFlight<AuditReport>();

  return [
    adminRoute('get', '/api/admin/audit', async (req, res, { tenant }) => {
      const { limit = DEFAULT_LIMIT, cursor, ...filters } = parseBody(req.query, AuditQuery);
      res.json(await queryAudit(createReader(res), { tenant, filters, limit, cursor }));
    }),
    adminRoute('get', '/api/admin/audit/export', async (req, res, { tenant }) => {
      const filters = parseBody(req.query, AuditExportQuery);
      const chunks = exportAudit(createReader(res), { tenant, filters });
      // Waits for the first chunk, because an error before it can still be sent with a status code.
      const first = await chunks.next();
      res.set('Content-Type', 'application/x-ndjson; charset=utf-8');
      res.set('Content-Disposition', 'attachment; filename="audit.jsonl"');
      // A failure from here on closes the connection, so that a truncated export is not taken for a complete one.
      await pipeline(Readable.from(withFirst(first, chunks)), res);
    }),
    adminRoute('get', '/api/admin/audit/verify', async (_req, res, caller) => {
      // The hash chains contain the events of all tenants.
      requireOperator(caller);
      const report: AuditVerifyView = await verifyFlight.run(
        [],
        (signal) =>
          verifyAudit({
            store,
            yieldToEventLoop,
            keyring,
            liveWriter: auditLog.stats(),
            signal,
          }),
        { signal: createDisconnectSignal(res) },
      );
      res.json(report);
    }),
  ];
}

async function* withFirst<T>(first: IteratorResult<T, void>, remaining: AsyncGenerator<T, void, void>) {
  if (first.done !== true) yield first.value;
  yield* remaining;
}
