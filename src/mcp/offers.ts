/** Reads what a server offers: tools, resources and prompts, as its own lists have them. */

import type { Client, Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/client";
import {
  type Catalogue,
  mostOffered,
  type RemotePrompt,
  type RemoteResource,
  type RemoteTool,
} from "./catalogue.ts";

export type Offers = Required<Pick<Catalogue, "tools" | "resources" | "prompts">>;

/** Asks for every list that the server says it has. Only that of the tools must come. `timeout`: milliseconds. */
export async function offersOf(client: Client, timeout: number): Promise<Offers> {
  const has = client.getServerCapabilities();
  const [tools, resources, templates, prompts] = await Promise.all([
    has?.tools ? client.listTools(undefined, { timeout }).then((list) => list.tools) : [],
    has?.resources ? client.listResources(undefined, { timeout }).then((list) => list.resources, none) : [],
    has?.resources
      ? client.listResourceTemplates(undefined, { timeout }).then((list) => list.resourceTemplates, none)
      : [],
    has?.prompts ? client.listPrompts(undefined, { timeout }).then((list) => list.prompts, none) : [],
  ]);
  return {
    tools: tools.slice(0, mostOffered).map(toolOf),
    resources: [...resources.map(resourceOf), ...templates.map(templateOf)].slice(0, mostOffered),
    prompts: prompts.slice(0, mostOffered).map(promptOf),
  };
}

const none = (): never[] => [];

function toolOf({ name, description = "", inputSchema, annotations }: Tool): RemoteTool {
  return { name, description, inputSchema, readOnly: annotations?.readOnlyHint === true };
}

function resourceOf({ uri, name, description = "", mimeType = "" }: Resource): RemoteResource {
  return { uri, name, description, type: mimeType };
}

function templateOf({
  uriTemplate,
  name,
  description = "",
  mimeType = "",
}: ResourceTemplateType): RemoteResource {
  return { uri: uriTemplate, name, description, type: mimeType, template: true };
}

function promptOf({ name, description = "", arguments: given = [] }: Prompt): RemotePrompt {
  return {
    ...{ name, description },
    arguments: given.map(({ name: key, description: about = "", required = false }) => ({
      ...{ name: key, description: about, required },
    })),
  };
}
