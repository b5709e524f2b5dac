import type { DiagnosisView } from '@behalf/contracts';
import { request, segment } from './request.ts';

/** Has the gateway go through a call of the user step by step. Nothing is begun by it, and nothing kept. */
export function diagnose(server: string): Promise<DiagnosisView> {
  return request(`/api/mcp/${segment(server)}/diagnose`, { method: 'POST', body: {} });
}
