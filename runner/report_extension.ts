// Gives Pi a `report` tool with which the model closes a run: completed, blocked (with a question) or failed.
// Loaded with `--extension`; without imports, so that it works from any directory and in old and new Pi alike.

const NAME = "report";

const PARAMETERS = {
	type: "object",
	properties: {
		status: {
			type: "string",
			enum: ["completed", "blocked", "failed"],
			description:
				"completed: the task is done. blocked: only the user can decide how to go on. failed: it can't be done.",
		},
		summary: {
			type: "string",
			description: "One sentence for a list of many tasks: what was done, or why not.",
		},
		question: {
			type: "string",
			description: "With blocked, and only then: the exact question to the user, with the options if there are some.",
		},
	},
	required: ["status", "summary"],
	additionalProperties: false,
};

function filled(text: unknown): boolean {
	return typeof text === "string" && text.trim() !== "";
}

export default function (pi: any) {
	pi.registerTool({
		name: NAME,
		label: "Report",
		description:
			"Close the task by telling how it ended. Call it once, by itself, when everything else is done; it ends your turn.",
		promptSnippet: "Tell how the task ended, as the last thing you do",
		promptGuidelines: [
			"End every task with one call of report, not in the same message as other tool calls.",
			"If you can't go on without an answer from the user, call report with status blocked and the question.",
		],
		parameters: PARAMETERS,
		async execute(_callId: string, outcome: any) {
			if (outcome.status === "blocked" && !filled(outcome.question)) {
				throw new Error("A report of status blocked needs the question that the user must answer.");
			}
			return {
				content: [{ type: "text", text: `Reported as ${outcome.status}.` }],
				details: { status: outcome.status, summary: outcome.summary, question: outcome.question },
				terminate: true,
			};
		},
	});

	// A session remembers which tools it had. After one run without this file the tool stays switched off, although
	// it is registered again; so it is switched on at each start.
	pi.on("session_start", () => {
		const active: string[] = pi.getActiveTools();
		if (!active.includes(NAME)) pi.setActiveTools([...active, NAME]);
	});
}
