import { createConnection } from 'node:net';
import { eventually } from '@behalf/testkit';
import type { OutputPiece } from './collectedOutput.ts';

/** What a Redis was told, command by command, and what it holds. */
export interface RedisMonitor {
  readCommands(): OutputPiece;
  /** Every key with its value, uncompressed, so that a text is found as it is. */
  dump(): Promise<OutputPiece>;
  close(): void;
}

export async function monitorRedis(uri: string): Promise<RedisMonitor> {
  const monitor = connect(uri);
  monitor.send('MONITOR');
  await eventually('Redis to be overheard', () => monitor.readOutput().startsWith('+OK') || null);
  return {
    readCommands: () => ({ from: 'what Redis was told', text: monitor.readOutput() }),
    async dump() {
      const { send, readOutput, close } = connect(uri);
      /** The answer to this, and to nothing before it. */
      const request = async (...commands: string[][]) => {
        const before = readOutput().length;
        for (const command of [...commands, ['ECHO', END_MARKER]]) send(...command);
        await eventually('Redis to answer', () => readOutput().includes(END_MARKER, before) || null);
        return readOutput().slice(before);
      };
      try {
        await request(['CONFIG', 'SET', 'rdbcompression', 'no']);
        const keyLines = (await request(['KEYS', '*'])).split('\r\n');
        const keys = keyLines
          .filter((_, index) => keyLines[index - 1]?.startsWith('$'))
          .filter((key) => key !== END_MARKER);
        const values = await request(...keys.map((key) => ['DUMP', key]));
        return { from: 'the dump of Redis', text: `${keys.join('\n')}\n${values}` };
      } finally {
        close();
      }
    },
    close: () => monitor.close(),
  };
}

const END_MARKER = 'that-is-all-there-is';

function connect(uri: string) {
  const { hostname, port } = new URL(uri);
  const parts: string[] = [];
  const socket = createConnection(Number(port), hostname).setEncoding('latin1');
  socket.on('data', (chunk: string) => void parts.push(chunk)).on('error', () => undefined);
  return {
    send: (...args: string[]) => {
      const bulk = args.map((arg) => `$${Buffer.byteLength(arg, 'latin1')}\r\n${arg}\r\n`);
      socket.write(`*${args.length}\r\n${bulk.join('')}`, 'latin1');
    },
    readOutput: () => parts.join(''),
    close: () => void socket.destroy(),
  };
}
