import type { ExitStatus } from './cliError.ts';
import type { GatewayClient } from './gateway/gatewayClient.ts';
import type { Io } from './io.ts';
import type { Style } from './output/terminal.ts';

export interface OptionSpec {
  readonly name: string;
  /** The name of the option's value; absent for a flag. */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly description: string;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean;
}

/** The specification of a command, for help, parser and documentation. */
export interface Command {
  /** The words that select the command. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** Sentences that together form the description. */
  readonly notes: readonly string[];
  run(context: Context): Promise<CommandOutput>;
}

/** The parsed arguments and options, by their names in the specification. */
export interface ParsedArguments {
  /** Returns a required argument. */
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
  /** Prints progress. */
  readonly progress: (text: string) => void;
  /** Created on first use, because offline commands need no gateway. */
  readonly gateway: () => GatewayClient;
}

/** The result, as text for people and as JSON for programs. */
export interface CommandOutput {
  readonly exitStatus: ExitStatus;
  readonly text: string;
  readonly json: unknown;
}
