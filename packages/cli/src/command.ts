import type { ExitStatus } from './cliError.ts';
import type { GatewayClient } from './gateway/gatewayClient.ts';
import type { Io } from './io.ts';
import type { Style } from './output/terminal.ts';

export interface OptionSpec {
  readonly name: string;
  /** What stands behind it; absent: it is there or not. */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly description: string;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean;
}

/** What a command is, for its help, its parser and its page in the documentation alike. */
export interface Command {
  /** The words that name it. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** What else is worth knowing: joined, a paragraph. */
  readonly notes: readonly string[];
  run(context: Context): Promise<CommandOutput>;
}

/** What was given, by the names of the specification. */
export interface ParsedArguments {
  /** An argument that is not optional. */
  argument(name: string): string;
  optional(name: string): string | undefined;
  text(option: string): string | undefined;
  texts(option: string): readonly string[];
  flag(option: string): boolean;
}

export interface Context {
  readonly input: ParsedArguments;
  readonly io: Io;
  readonly style: Style;
  /** Says what goes on. */
  readonly progress: (text: string) => void;
  /** Made when it is first asked for: what works offline needs none. */
  readonly gateway: () => GatewayClient;
}

/** What came of it, for people and for programs. */
export interface CommandOutput {
  readonly exitStatus: ExitStatus;
  readonly text: string;
  readonly json: unknown;
}
