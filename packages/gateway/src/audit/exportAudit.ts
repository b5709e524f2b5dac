import { entriesOf, segmentsNewestFirst, type Reader, type AuditReading } from './readSegments.ts';

/**
 * Everything that fits as JSON lines, the newest first, some lines at a time: what is not asked for is not read. Stop
 * asking, and it stops.
 */
export async function* exportAudit(parts: AuditReading, reader: Reader): AsyncGenerator<string, void, void> {
  const { from, to } = reader.filters;
  for await (const segment of segmentsNewestFirst(parts, { from, to, after: undefined })) {
    let text = '';
    for (const { entry } of entriesOf(segment, reader)) text += `${JSON.stringify(entry)}\n`;
    if (text !== '') yield text;
  }
}
