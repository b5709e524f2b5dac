export { mongoDoubleBanner } from './commands/handshake.ts';
export type { DropOptions, Faults, HeldCommand } from './faults.ts';
export { manifest as mongoDoubleManifest, type CommandName } from './manifest.ts';
export {
  createMongoDouble,
  type MongoDouble,
  type MongoDoubleParts,
  type ReceivedCommand,
} from './server.ts';
