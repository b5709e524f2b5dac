import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { collectionShapes, type CollectionName, type Collections } from '@behalf/gateway/ports';
import { systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { openPrimary } from '@behalf/stores/open';
import type { InProcessGateway } from './inProcess.ts';

const MAX_RECORDS = 10_000;

/** Every record of a collection, as a copy of the store would hold it. */
export async function readRecords<N extends CollectionName>(
  { dataDir }: Pick<InProcessGateway, 'dataDir'>,
  name: N,
): Promise<Collections[N][]> {
  const store = await openPrimary({ dataDir }, { clock, random });
  try {
    return await store.raw.page(name, null, MAX_RECORDS);
  } finally {
    await store.close();
  }
}

/** All that a thief of the disk gets: the records, and the files byte by byte, but for the sealing key. */
export async function dumpStore(gateway: Pick<InProcessGateway, 'dataDir'>): Promise<string> {
  const parts: string[] = [];
  for (const name of Object.keys(collectionShapes) as CollectionName[]) {
    parts.push(JSON.stringify(await readRecords(gateway, name)));
  }
  for (const file of await readdir(gateway.dataDir)) {
    if (file !== 'creds.key') parts.push(await readFile(join(gateway.dataDir, file), 'latin1'));
  }
  return parts.join('\n');
}
