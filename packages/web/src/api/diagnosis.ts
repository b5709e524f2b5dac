import type { DiagnosisView } from '@behalf/contracts';
import { requestJson, encodeSegment } from './request.ts';

/** Has the gateway go through a call of the user step by step. Nothing is begun by it, and nothing kept. */
export function diagnoseServer(server: string): Promise<DiagnosisView> {
  return requestJson(`/api/mcp/${encodeSegment(server)}/diagnose`, { method: 'POST', body: {} });
}
