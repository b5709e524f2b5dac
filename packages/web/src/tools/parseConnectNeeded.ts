import type { ConnectNeeded, ToolResult } from '@behalf/contracts';
import { isRecord } from '../result/isRecord.ts';

/** The sign-in that a result says is missing. The gateway passes on no such words of a server. */
export function parseConnectNeeded(result: ToolResult, serverTitle: string): ConnectNeeded | undefined {
  const meta = result['_meta'];
  const auth = isRecord(meta) ? meta['behalf/auth'] : undefined;
  if (!isRecord(auth)) return undefined;
  const { server, reason, connectUrl, scopes } = auth;
  if (typeof server !== 'string' || typeof reason !== 'string') return undefined;
  return {
    server,
    title: serverTitle,
    reason,
    connectUrl: typeof connectUrl === 'string' ? connectUrl : null,
    ...(typeof scopes === 'string' && { scopes }),
  };
}
