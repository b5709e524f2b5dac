import { deserialize, serialize } from 'bson';
import type { Doc } from './values.ts';

/** A request of the MongoDB wire protocol. Document sequences are merged into the body. */
export interface Request {
  readonly requestId: number;
  readonly kind: 'message' | 'legacy';
  readonly body: Doc;
}

/** Bytes that are not a valid request. The connection is closed, as by a real server. */
class WireError extends Error {}

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER = 16;
const MAX_MESSAGE = 48_000_000;

/** Extracts complete messages from the start of `buffer`. */
export function readMessages(buffer: Buffer): { requests: Request[]; rest: Buffer } {
  const requests: Request[] = [];
  let rest = buffer;
  while (rest.length >= HEADER) {
    const length = rest.readInt32LE(0);
    if (length < HEADER || length > MAX_MESSAGE) throw new WireError(`A message of ${length} bytes`);
    if (rest.length < length) break;
    requests.push(parse(rest.subarray(0, length)));
    rest = rest.subarray(length);
  }
  return { requests, rest };
}

function parse(message: Buffer): Request {
  const requestId = message.readInt32LE(4);
  const opCode = message.readInt32LE(12);
  if (opCode === OP_MSG) return { requestId, kind: 'message', body: parseSections(message) };
  if (opCode === OP_QUERY) {
    // Flags, collection name, skip and limit precede the document of a legacy hello.
    const afterName = message.indexOf(0, HEADER + 4) + 1;
    return { requestId, kind: 'legacy', body: { ...readDocument(message, afterName + 8).doc, $db: 'admin' } };
  }
  throw new WireError(`The operation code ${opCode}`);
}

function parseSections(message: Buffer): Doc {
  const flags = message.readUInt32LE(HEADER);
  // Checksums are never requested. `moreToCome` marks an unacknowledged write, which is not supported.
  if (flags !== 0) throw new WireError(`The message flags ${flags}`);
  let body: Doc = {};
  const sequences: Doc = {};
  let offset = HEADER + 4;
  while (offset < message.length) {
    const kind = message.readUInt8(offset);
    offset += 1;
    if (kind === 0) {
      const { doc, end } = readDocument(message, offset);
      body = doc;
      offset = end;
    } else if (kind === 1) {
      const end = offset + message.readInt32LE(offset);
      const nameEnd = message.indexOf(0, offset + 4);
      const docs: Doc[] = [];
      for (let next = nameEnd + 1; next < end;) {
        const document = readDocument(message, next);
        docs.push(document.doc);
        next = document.end;
      }
      sequences[message.toString('utf8', offset + 4, nameEnd)] = docs;
      offset = end;
    } else throw new WireError(`A section of kind ${kind}`);
  }
  return { ...body, ...sequences };
}

function readDocument(message: Buffer, offset: number): { doc: Doc; end: number } {
  const end = offset + message.readInt32LE(offset);
  if (end > message.length) throw new WireError('A document longer than its message');
  return { doc: deserialize(message.subarray(offset, end)), end };
}

export function encodeReply(request: Request, reply: Doc): Buffer {
  const doc = serialize(reply, { ignoreUndefined: true });
  const prefix =
    request.kind === 'message' ? Buffer.alloc(5) /* no flags, one section of kind 0 */ : legacyPrefix();
  const header = Buffer.alloc(HEADER);
  header.writeInt32LE(HEADER + prefix.length + doc.length, 0);
  header.writeInt32LE(0, 4);
  header.writeInt32LE(request.requestId, 8);
  header.writeInt32LE(request.kind === 'message' ? OP_MSG : OP_REPLY, 12);
  return Buffer.concat([header, prefix, doc]);
}

/** The OP_REPLY header: flags, cursor ID, first index, and one document. */
function legacyPrefix(): Buffer {
  const prefix = Buffer.alloc(20);
  prefix.writeInt32LE(1, 16);
  return prefix;
}
