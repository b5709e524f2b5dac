import {
  readEntries,
  readSegmentsNewestFirst,
  type AuditScope,
  type AuditReadParts,
} from './readSegments.ts';

/**
 * Everything that fits as JSON lines, the newest first, some lines at a time: what is not asked for is not read. Stop
 * asking, and it stops.
 */
export async function* exportAudit(
  parts: AuditReadParts,
  scope: AuditScope,
): AsyncGenerator<string, void, void> {
  const { from, to } = scope.filters;
  for await (const segment of readSegmentsNewestFirst(parts, { from, to, after: undefined })) {
    let text = '';
    for (const { entry } of readEntries(segment, scope)) text += `${JSON.stringify(entry)}\n`;
    if (text !== '') yield text;
  }
}
