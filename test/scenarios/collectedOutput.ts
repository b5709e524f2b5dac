import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { collectionNames } from '@behalf/gateway/ports';
import { systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { openPrimary } from '@behalf/stores/open';
import type { InProcessGateway } from './inProcess.ts';

/** Something that came out of the gateway, and from where. */
export interface OutputPiece {
  readonly from: string;
  readonly text: string;
}

/** What may be in an answer although it is a secret: it was made for the one who gets it. */
export interface AllowedSecrets {
  /** Of the body of an answer that is none of an error: what is left without it. */
  readonly redact?: (body: string) => string;
  readonly allowsCookie?: boolean;
}

/** Everything a gateway answered, wrote or kept. */
export function createOutputCollector(gateway: InProcessGateway) {
  const responses: OutputPiece[] = [];

  /** Whole, with the headers; without what is rightfully there. */
  async function collectResponse(
    requestName: string,
    response: Response,
    allowedSecrets: AllowedSecrets = {},
  ): Promise<string> {
    const body = await response.text();
    const headers = [...response.headers].filter(
      ([name]) => !(allowedSecrets.allowsCookie && name === 'set-cookie'),
    );
    const redactedBody = allowedSecrets.redact && response.ok ? allowedSecrets.redact(body) : body;
    responses.push({
      from: `the answer ${response.status} to ${requestName}`,
      text: `${JSON.stringify(headers)}\n${redactedBody}`,
    });
    return body;
  }

  /** Deeper than a logger looks: what is hidden in a cause would be printed one day. */
  const listLogLines = (): OutputPiece[] =>
    gateway.logged.map(({ event, fields }) => ({
      from: `the log line "${event}"`,
      text: `${event} ${inspect(fields, { depth: Infinity, maxStringLength: Infinity, breakLength: Infinity })}`,
    }));

  async function readRecords(): Promise<OutputPiece[]> {
    const store = await openPrimary({ dataDir: gateway.dataDir }, { clock, random });
    try {
      const pieces: OutputPiece[] = [];
      for (const name of collectionNames) {
        const page = await store.raw.page(name, null, 10_000);
        pieces.push(
          ...page.map((record) => ({ from: `the collection ${name}`, text: JSON.stringify(record) })),
        );
      }
      return pieces;
    } finally {
      await store.close();
    }
  }

  /** Also what no collection shows: caches, counters, and pages that were given back. */
  async function readFiles(): Promise<OutputPiece[]> {
    const names = (await readdir(gateway.dataDir)).filter((name) => name.startsWith('behalf.db'));
    return Promise.all(
      names.map(async (name) => ({
        from: `the file ${name}`,
        text: await readFile(join(gateway.dataDir, name), 'latin1'),
      })),
    );
  }

  return {
    collectResponse,
    responses: (): readonly OutputPiece[] => responses,
    listLogLines,
    readRecords,
    readFiles,
  };
}
export type OutputCollector = ReturnType<typeof createOutputCollector>;
