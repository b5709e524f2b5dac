import { createConnection } from 'node:net';
import { eventually } from '@behalf/testkit';
import type { Piece } from './collected.ts';

/** What a Redis was told, command by command, and what it holds. */
export interface RedisTap {
  told(): Piece;
  /** Every key with its value, uncompressed, so that a text is found as it is. */
  dump(): Promise<Piece>;
  close(): void;
}

export async function tapRedis(uri: string): Promise<RedisTap> {
  const monitor = connect(uri);
  monitor.send('MONITOR');
  await eventually('Redis to be overheard', () => monitor.heard().startsWith('+OK') || null);
  return {
    told: () => ({ from: 'what Redis was told', text: monitor.heard() }),
    async dump() {
      const { send, heard, close } = connect(uri);
      /** The answer to this, and to nothing before it. */
      const ask = async (...commands: string[][]) => {
        const before = heard().length;
        for (const command of [...commands, ['ECHO', END]]) send(...command);
        await eventually('Redis to answer', () => heard().includes(END, before) || null);
        return heard().slice(before);
      };
      try {
        await ask(['CONFIG', 'SET', 'rdbcompression', 'no']);
        const listed = (await ask(['KEYS', '*'])).split('\r\n');
        const keys = listed
          .filter((_, index) => listed[index - 1]?.startsWith('$'))
          .filter((key) => key !== END);
        const values = await ask(...keys.map((key) => ['DUMP', key]));
        return { from: 'the dump of Redis', text: `${keys.join('\n')}\n${values}` };
      } finally {
        close();
      }
    },
    close: () => monitor.close(),
  };
}

const END = 'that-is-all-there-is';

function connect(uri: string) {
  const { hostname, port } = new URL(uri);
  const parts: string[] = [];
  const socket = createConnection(Number(port), hostname).setEncoding('latin1');
  socket.on('data', (chunk: string) => void parts.push(chunk)).on('error', () => undefined);
  return {
    send: (...words: string[]) => {
      const bulk = words.map((word) => `$${Buffer.byteLength(word, 'latin1')}\r\n${word}\r\n`);
      socket.write(`*${words.length}\r\n${bulk.join('')}`, 'latin1');
    },
    heard: () => parts.join(''),
    close: () => void socket.destroy(),
  };
}
