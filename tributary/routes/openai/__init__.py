"""The routes of OpenAI's API that its clients need to chat with a bot: models and chat completions."""
